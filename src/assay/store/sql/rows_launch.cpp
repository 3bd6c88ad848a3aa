// Rows of launches with samples, traces and operator events, of metrics and attachments.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/digest.h"
#include "assay/base/enum_names.h"
#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/record/comparison.h"
#include "assay/record/device_trace.h"
#include "assay/record/launch.h"
#include "assay/record/metric.h"
#include "assay/store/result_store.h"
#include "assay/store/sql/connection.h"
#include "assay/store/sql/launch_digest.h"
#include "assay/store/sql/rows.h"
#include "assay/store/sql/sample_codec.h"
#include "assay/store/sql/sql_store.h"

namespace assay::sql {
namespace {

struct PhaseColumn {
  std::string_view metric;
  std::vector<std::int64_t> PhaseSamples::* values;
};

constexpr auto kPhaseColumns = std::to_array<PhaseColumn>({
    {"bind_ns", &PhaseSamples::bind_ns},
    {"execute_ns", &PhaseSamples::execute_ns},
    {"fetch_ns", &PhaseSamples::fetch_ns},
});

Status add_block(Connection& connection, const std::string& launch, std::string_view metric,
                 std::string_view phase, std::span<const std::int64_t> samples) {
  if (samples.empty()) {
    return {};
  }
  const auto packed = packed_from_samples(samples);
  return connection.run("INSERT INTO sample_block VALUES (?, ?, 0, ?, ?, ?, ?)", launch, metric,
                        phase, samples.size(), packed.codec, Blob{packed.bytes});
}

Status add_samples(Connection& connection, const std::string& launch,
                   const Measurement& measurement) {
  const auto warmup = static_cast<std::size_t>(std::max(0, measurement.warmup_iterations));
  for (const auto& column : kPhaseColumns) {
    const std::span<const std::int64_t> all(measurement.samples.*column.values);
    const auto split = std::min(warmup, all.size());
    ASSAY_RETURN_IF_ERROR(add_block(connection, launch, column.metric, "warmup", all.first(split)));
    ASSAY_RETURN_IF_ERROR(
        add_block(connection, launch, column.metric, "steady", all.subspan(split)));
  }
  return {};
}

Status read_samples(Connection& connection, const std::string& launch, PhaseSamples& samples) {
  for (const auto& column : kPhaseColumns) {
    // "warmup" first, as it was measured.
    ASSAY_ASSIGN_OR_RETURN(
        const auto blocks,
        collect(connection.prepare("SELECT codec, bytes, n FROM sample_block WHERE launch = ? AND "
                                   "metric = ? AND step = 0 ORDER BY phase = 'steady'",
                                   launch, column.metric),
                [](Statement& row) {
                  return samples_from_packed(row.text(0), row.text(1),
                                             static_cast<std::size_t>(row.integer(2)));
                }));
    auto& values = samples.*column.values;
    for (const auto& block : blocks) {
      values.insert(values.end(), block.begin(), block.end());
    }
  }
  return {};
}

Status add_events(Connection& connection, const std::string& launch,
                  const std::vector<ProfileEvent>& events) {
  int position = 0;
  for (const auto& event : events) {
    ASSAY_RETURN_IF_ERROR(connection.run(
        "INSERT INTO op_event VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", launch, position++, event.name,
        event.kind, event.instruction, event.count, event.total_ns, event.min_ns, event.median_ns));
  }
  return {};
}

Result<std::vector<ProfileEvent>> read_events(Connection& connection, const std::string& launch) {
  return collect(connection.prepare("SELECT name, kind, instruction, calls, total_ns, min_ns, "
                                    "median_ns FROM op_event WHERE launch = ? ORDER BY position",
                                    launch),
                 [](Statement& row) -> Result<ProfileEvent> {
                   return ProfileEvent{.name = row.text(0),
                                       .kind = row.text(1),
                                       .instruction = static_cast<int>(row.integer(2)),
                                       .count = row.integer(3),
                                       .total_ns = row.integer(4),
                                       .min_ns = row.integer(5),
                                       .median_ns = row.integer(6)};
                 });
}

// One codec serves both columns of a row.
Status add_traces(Connection& connection, const std::string& launch, const LaunchTraces& traces) {
  for (const auto& trace : traces.channels) {
    const auto times = shuffled_from_samples(trace.times_ns);
    const auto readings = shuffled_from_samples(trace.micros);
    ASSAY_RETURN_IF_ERROR(connection.run("INSERT INTO trace VALUES (?, ?, ?, ?, ?, ?, ?)", launch,
                                         trace.channel, trace.unit, trace.times_ns.size(),
                                         times.codec, Blob{times.bytes}, Blob{readings.bytes}));
  }
  return {};
}

Result<std::vector<DeviceTrace>> read_traces(Connection& connection, const std::string& launch) {
  return collect(
      connection.prepare("SELECT channel, unit, n, codec, times_ns, readings FROM trace "
                         "WHERE launch = ? ORDER BY channel",
                         launch),
      [](Statement& row) -> Result<DeviceTrace> {
        DeviceTrace trace{.channel = row.text(0), .unit = row.text(1)};
        const auto count = static_cast<std::size_t>(row.integer(2));
        const auto codec = row.text(3);
        ASSAY_ASSIGN_OR_RETURN(trace.times_ns, samples_from_packed(codec, row.text(4), count));
        ASSAY_ASSIGN_OR_RETURN(trace.micros, samples_from_packed(codec, row.text(5), count));
        return trace;
      });
}

template <class T>
std::optional<std::string> text_from_optional(const std::optional<T>& record) {
  return record ? std::optional(text_from_record(*record)) : std::nullopt;
}

// Operators are rows of their own; the report keeps the rest.
std::optional<std::string> text_from_profile(const Launch& launch) {
  if (!launch.profile) {
    return std::nullopt;
  }
  ProfileReport rest = *launch.profile;
  rest.events.clear();
  return text_from_record(rest);
}

// Channels are rows of their own.
std::optional<std::string> text_from_traces(const Launch& launch) {
  if (!launch.traces) {
    return std::nullopt;
  }
  LaunchTraces rest = *launch.traces;
  rest.channels.clear();
  return text_from_record(rest);
}

template <class T>
std::optional<T> in_place(const Launch& launch, T PairPlace::* field) {
  return launch.place ? std::optional((*launch.place).*field) : std::nullopt;
}

template <class Enum>
std::optional<std::string> name_in_place(const Launch& launch, Enum PairPlace::* field) {
  return launch.place ? std::optional(std::string(name_of((*launch.place).*field))) : std::nullopt;
}

Status add_launch_row(Connection& connection, const Launch& launch) {
  return connection.run(
      "INSERT INTO launch (id, attempt, launch_index, run_order, is_fresh, comparison, block, "
      "pair, "
      "side, core_set, pair_phase, pairing, outcome, stage, reason_code, text, wall_ns, "
      "overhead_ns, conditions_before, "
      "conditions_after, process_end, load, measurement, memory, profile, sampling) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      launch.id, launch.attempt, launch.index, launch.order, launch.is_fresh,
      in_place(launch, &PairPlace::comparison), in_place(launch, &PairPlace::block),
      in_place(launch, &PairPlace::pair), name_in_place(launch, &PairPlace::side),
      launch.place ? std::optional(text_from_record(launch.place->cpus)) : std::nullopt,
      name_in_place(launch, &PairPlace::phase), name_in_place(launch, &PairPlace::pairing),
      name_of(launch.outcome), name_of(launch.stage), launch.reason_code, launch.text,
      launch.end.wall_ns, launch.overhead_ns, text_from_record(launch.before),
      text_from_record(launch.after), text_from_record(launch.end), text_from_optional(launch.load),
      text_from_optional(launch.measurement), text_from_optional(launch.memory),
      text_from_profile(launch), text_from_traces(launch));
}

template <class T>
Status read_optional(Statement& row, int column, std::string_view what, std::optional<T>& target) {
  if (!row.is_null(column)) {
    ASSAY_ASSIGN_OR_RETURN(target, record_from_text<T>(row.text(column), what));
  }
  return {};
}

Result<PairPlace> read_place(Statement& row) {
  PairPlace place{.comparison = row.text(17),
                  .block = static_cast<int>(row.integer(18)),
                  .pair = static_cast<int>(row.integer(19)),
                  .side = {},
                  .cpus = {}};
  ASSAY_ASSIGN_OR_RETURN(place.side, enum_from_text<Side>(row.text(20)));
  ASSAY_ASSIGN_OR_RETURN(place.cpus, record_from_text<std::vector<int>>(row.text(21), "core set"));
  ASSAY_ASSIGN_OR_RETURN(place.phase, enum_from_text<PairPhase>(row.text(22)));
  ASSAY_ASSIGN_OR_RETURN(place.pairing, enum_from_text<Pairing>(row.text(23)));
  return place;
}

// Everything but samples, channels and operators.
Result<Launch> read_launch(Statement& row) {
  Launch launch;
  launch.id = row.text(0);
  launch.attempt = row.text(1);
  launch.index = static_cast<int>(row.integer(2));
  launch.order = static_cast<int>(row.integer(3));
  launch.is_fresh = row.integer(4) != 0;
  ASSAY_ASSIGN_OR_RETURN(launch.outcome, enum_from_text<Outcome>(row.text(5)));
  ASSAY_ASSIGN_OR_RETURN(launch.stage, enum_from_text<Stage>(row.text(6)));
  launch.reason_code = row.text(7);
  launch.text = row.text(8);
  launch.overhead_ns = row.integer(9);
  ASSAY_ASSIGN_OR_RETURN(launch.before, record_from_text<Conditions>(row.text(10), "conditions"));
  ASSAY_ASSIGN_OR_RETURN(launch.after, record_from_text<Conditions>(row.text(11), "conditions"));
  ASSAY_ASSIGN_OR_RETURN(launch.end, record_from_text<ProcessEnd>(row.text(12), "process end"));
  ASSAY_RETURN_IF_ERROR(read_optional(row, 13, "load report", launch.load));
  ASSAY_RETURN_IF_ERROR(read_optional(row, 14, "measurement", launch.measurement));
  ASSAY_RETURN_IF_ERROR(read_optional(row, 15, "memory report", launch.memory));
  ASSAY_RETURN_IF_ERROR(read_optional(row, 16, "profile", launch.profile));
  ASSAY_RETURN_IF_ERROR(read_optional(row, 24, "sampling", launch.traces));
  if (!row.is_null(17)) {
    ASSAY_ASSIGN_OR_RETURN(launch.place, read_place(row));
  }
  return launch;
}

Status add_metric(Connection& connection, const MetricRow& row) {
  // A caller that did not use make_metric must not turn NaN into NULL.
  const bool is_finite = std::isfinite(row.metric.value);
  const auto marked =
      is_finite ? row.metric : make_metric(row.metric.name, row.metric.value, row.metric.scope);
  return connection.run(
      "INSERT INTO metric VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (attempt, launch, name, "
      "version, scope) DO UPDATE SET value = excluded.value, special = excluded.special",
      row.attempt, row.launch, row.metric.name, row.metric.version, row.metric.scope, marked.value,
      marked.special);
}

Status check_unfinished_attempt(Connection& connection, std::string_view attempt) {
  ASSAY_ASSIGN_OR_RETURN(auto row,
                         connection.prepare("SELECT run FROM attempt WHERE id = ?", attempt));
  ASSAY_ASSIGN_OR_RETURN(const bool has_row, row.step());
  return has_row ? check_unfinished(connection, row.text(0)) : Status();
}

// Before anything of a launch is decoded, so that damage is told as such.
Status check_seals(Connection& connection, std::string_view attempt) {
  ASSAY_ASSIGN_OR_RETURN(
      const auto launches,
      collect(connection.prepare("SELECT id FROM launch WHERE attempt = ?", attempt),
              [](Statement& row) { return Result<std::string>(row.text(0)); }));
  for (const auto& launch : launches) {
    ASSAY_RETURN_IF_ERROR(check_seal(connection, launch));
  }
  return {};
}

}  // namespace

Status SqlResultStore::add_launch(const Launch& launch) {
  return connection_.in_transaction([&]() -> Status {
    ASSAY_RETURN_IF_ERROR(check_unfinished_attempt(connection_, launch.attempt));
    ASSAY_RETURN_IF_ERROR(add_launch_row(connection_, launch));
    if (launch.measurement) {
      ASSAY_RETURN_IF_ERROR(add_samples(connection_, launch.id, *launch.measurement));
    }
    if (launch.profile) {
      ASSAY_RETURN_IF_ERROR(add_events(connection_, launch.id, launch.profile->events));
    }
    if (launch.traces) {
      ASSAY_RETURN_IF_ERROR(add_traces(connection_, launch.id, *launch.traces));
    }
    return seal_launch(connection_, launch.id);
  });
}

Status SqlResultStore::add_metrics(std::span<const MetricRow> metrics) {
  return connection_.in_transaction([&]() -> Status {
    for (const auto& row : metrics) {
      ASSAY_RETURN_IF_ERROR(check_unfinished_attempt(connection_, row.attempt));
      ASSAY_RETURN_IF_ERROR(add_metric(connection_, row));
    }
    return {};
  });
}

Status SqlResultStore::add_attachment(const Attachment& attachment) {
  const auto packed = packed_from_bytes(attachment.content);
  return connection_.run("INSERT INTO attachment VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                         attachment.owner, attachment.kind, sha256_hex(attachment.content),
                         packed.codec, Blob{packed.bytes});
}

Result<std::vector<Launch>> SqlResultStore::launches_of_attempt(std::string_view attempt_id) {
  ASSAY_RETURN_IF_ERROR(check_seals(connection_, attempt_id));
  ASSAY_ASSIGN_OR_RETURN(
      auto launches,
      collect(connection_.prepare(
                  "SELECT id, attempt, launch_index, run_order, is_fresh, outcome, stage, "
                  "reason_code, text, overhead_ns, conditions_before, conditions_after, "
                  "process_end, load, measurement, memory, profile, comparison, block, pair, side, "
                  "core_set, pair_phase, pairing, sampling "
                  "FROM launch WHERE attempt = ? "
                  "ORDER BY launch_index, rowid",
                  attempt_id),
              read_launch));
  for (auto& launch : launches) {
    if (launch.measurement) {
      ASSAY_RETURN_IF_ERROR(read_samples(connection_, launch.id, launch.measurement->samples));
    }
    if (launch.profile) {
      ASSAY_ASSIGN_OR_RETURN(launch.profile->events, read_events(connection_, launch.id));
    }
    if (launch.traces) {
      ASSAY_ASSIGN_OR_RETURN(launch.traces->channels, read_traces(connection_, launch.id));
    }
  }
  return launches;
}

Result<std::vector<MetricRow>> SqlResultStore::metrics_of_attempt(std::string_view attempt_id) {
  return collect(connection_.prepare("SELECT attempt, launch, name, version, value, special, scope "
                                     "FROM metric WHERE attempt = ? ORDER BY rowid",
                                     attempt_id),
                 [](Statement& row) -> Result<MetricRow> {
                   return MetricRow{.attempt = row.text(0),
                                    .launch = row.text(1),
                                    .metric = {.name = row.text(2),
                                               .version = static_cast<int>(row.integer(3)),
                                               .value = row.real(4),
                                               .special = row.text(5),
                                               .scope = row.text(6)}};
                 });
}

Result<std::vector<Attachment>> SqlResultStore::attachments_of(std::string_view owner) {
  return collect(
      connection_.prepare(
          "SELECT owner, kind, codec, bytes, digest FROM attachment WHERE owner = ? ORDER BY rowid",
          owner),
      [](Statement& row) -> Result<Attachment> {
        auto content = bytes_from_packed(row.text(2), row.text(3));
        if (!content || sha256_hex(*content) != row.text(4)) {
          return fail(ErrorCode::kCorrupt,
                      fmt::format("the {} of '{}' is damaged in the store: it does not have its "
                                  "digest; restore a copy of the store, or remove the run",
                                  row.text(1), row.text(0)));
        }
        return Attachment{row.text(0), row.text(1), *std::move(content)};
      });
}

// The newest run first, and then its launches alone: a case that is watched has very many.
Result<PastLaunches> SqlResultStore::past_launches(std::string_view case_key, Pass pass) {
  ASSAY_ASSIGN_OR_RETURN(
      auto row,
      connection_.prepare(
          "SELECT count(DISTINCT attempt.id), count(*), "
          "CAST(coalesce(sum(launch.wall_ns), 0) AS BIGINT) FROM attempt "
          "JOIN launch ON launch.attempt = attempt.id WHERE attempt.case_key = ?1 AND "
          "attempt.pass = ?2 AND attempt.run = (SELECT run.id FROM attempt AS other "
          "JOIN run ON run.id = other.run WHERE other.case_key = ?1 AND other.pass = ?2 AND "
          "EXISTS (SELECT 1 FROM launch AS any_launch WHERE any_launch.attempt = other.id) "
          "ORDER BY run.order_ns DESC, run.id DESC LIMIT 1)",
          case_key, name_of(pass)));
  ASSAY_ASSIGN_OR_RETURN(const bool has_row, row.step());
  return has_row ? PastLaunches{.attempts = static_cast<int>(row.integer(0)),
                                .count = static_cast<int>(row.integer(1)),
                                .wall_ns = row.integer(2)}
                 : PastLaunches{};
}

}  // namespace assay::sql
