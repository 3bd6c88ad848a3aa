#include "assay/engines/command/observer.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "assay/base/digest.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/text.h"
#include "assay/engines/command/line_pattern.h"
#include "assay/engines/command/printed_values.h"
#include "assay/engines/command/quantity.h"
#include "assay/record/metric.h"

namespace assay::command {
namespace {

constexpr std::string_view kWholeNetwork = "NET";
constexpr std::size_t kMostRecordBytes = std::size_t{64} << 10;
constexpr std::size_t kMostShownRecord = 200;
constexpr double kMsNs = 1e6;

std::string text_at(const Json& record, const char* key) {
  const auto found = record.find(key);
  return found != record.end() && found->is_string() ? printable(found->get<std::string>())
                                                     : std::string();
}

/// A number, plain or in quotes; absent if there is none under the key.
Result<std::optional<double>> number_at(const Json& record, const char* key) {
  const auto found = record.find(key);
  if (found == record.end() || found->is_null()) {
    return std::nullopt;
  }
  if (found->is_number()) {
    return found->get<double>();
  }
  const auto text = unquoted_text(*found);
  auto number = number_from_printed(text);
  if (!number) {
    return fail_with_context(std::move(number).error(), fmt::format("\"{}\" of a record", key));
  }
  return *number;
}

/// "net_flops": a name as metrics have it. A longer one ends in its digest, and is no other's.
std::string metric_name(std::string_view type, std::string_view metric) {
  std::string name;
  for (const char c : fmt::format("{}_{}", type, metric)) {
    const auto byte = static_cast<unsigned char>(c);
    name += std::isalnum(byte) != 0 || c == '.' ? static_cast<char>(std::tolower(byte)) : '_';
  }
  constexpr std::size_t kMostBytes = 64;
  constexpr std::size_t kDigits = 8;
  if (name.size() > kMostBytes) {
    const auto digest = sha256_hex(name).substr(0, kDigits);
    name = name.substr(0, kMostBytes - kDigits - 1) + "_" + digest;
  }
  return name;
}

/// A name that comes again stands for its last value: a program may print partial results.
void put_metric(ProgramMetric metric, PrintedValues& values) {
  if (!is_program_metric_name(metric.name) || !std::isfinite(metric.value)) {
    return;
  }
  const auto known = std::ranges::find(values.metrics, metric.name, &ProgramMetric::name);
  if (known == values.metrics.end()) {
    if (values.metrics.size() <= kMostMetricsOfLaunch) {  // One more, so that they are refused.
      values.metrics.push_back(std::move(metric));
    }
  } else {
    *known = std::move(metric);
  }
}

/// A time as a report keeps it. Errors: kEngine for one below 0.
Result<double> checked_ns(double value, const Unit& unit, std::string_view type) {
  const double ns = value * unit.factor;
  constexpr double kDayNs = 24.0 * 3600 * 1e9;
  return ns >= 0 && ns <= kDayNs
             ? Result<double>(ns)
             : fail(ErrorCode::kEngine,
                    fmt::format("{} {} of '{}' is no time: 0 to a day", value, unit.name, type));
}

/// One value of the type NET or of an operator.
Status add_value(const std::string& type, double value, const Unit& unit, PrintedValues& values) {
  ASSAY_ASSIGN_OR_RETURN(const double ns, checked_ns(value, unit, type));
  if (type == kWholeNetwork) {
    values.times_ns.push_back(std::llround(ns));
  } else {
    values.operators.push_back(
        {.name = type, .calls = 1, .total_ns = ns, .min_ns = ns, .median_ns = ns});
  }
  return {};
}

/// The middle of a summary: its median, or else its mean.
Result<std::optional<double>> middle_of(const Json& summary) {
  ASSAY_ASSIGN_OR_RETURN(const auto median, number_at(summary, "p50"));
  return median ? median : number_at(summary, "mean");
}

Status add_summary(const std::string& type, const Json& record, const Unit& unit,
                   PrintedValues& values) {
  const auto& summary = record.at("summary");
  ASSAY_ASSIGN_OR_RETURN(const auto middle, middle_of(summary));
  if (!middle) {
    return {};
  }
  ASSAY_ASSIGN_OR_RETURN(const double middle_ns, checked_ns(*middle, unit, type));
  if (type == kWholeNetwork) {
    put_metric({.name = "net_latency", .unit = "ns", .value = middle_ns}, values);
    return {};
  }
  ASSAY_ASSIGN_OR_RETURN(const auto runs, number_at(record, "num_runs"));
  ASSAY_ASSIGN_OR_RETURN(const auto mean, number_at(summary, "mean"));
  ASSAY_ASSIGN_OR_RETURN(const auto least, number_at(summary, "p0"));
  ASSAY_ASSIGN_OR_RETURN(const double mean_ns, checked_ns(mean.value_or(*middle), unit, type));
  ASSAY_ASSIGN_OR_RETURN(const double least_ns, checked_ns(least.value_or(*middle), unit, type));
  const double calls = std::clamp(std::round(runs.value_or(1)), 1.0, 1e9);
  values.operators.push_back({.name = type,
                              .calls = static_cast<std::int64_t>(calls),
                              .total_ns = mean_ns * calls,
                              .min_ns = least_ns,
                              .median_ns = middle_ns});
  return {};
}

/// Keeps what is no time as a number of the launch, by type and metric, with the unit in the name
/// where Assay does not know it.
Status add_other(const std::string& type, const Json& record, PrintedValues& values) {
  ASSAY_ASSIGN_OR_RETURN(auto value, number_at(record, "value"));
  if (const auto summary = record.find("summary"); !value && summary != record.end()) {
    ASSAY_ASSIGN_OR_RETURN(value, middle_of(*summary));
  }
  if (!value) {
    return {};
  }
  const auto unit_name = text_at(record, "unit");
  const auto* unit = find_program_unit(unit_name);
  auto name = metric_name(type, text_at(record, "metric"));
  if (unit == nullptr && !unit_name.empty()) {
    name = metric_name(name, unit_name);
  }
  put_metric({.name = std::move(name),
              .unit = std::string(unit == nullptr ? "count" : unit->kept),
              .better = unit == nullptr ? Better::kNone : unit->better,
              .value = *value * (unit == nullptr ? 1 : unit->factor)},
             values);
  return {};
}

Status add_typed(const std::string& type, const Json& record, PrintedValues& values) {
  const auto* unit = find_program_unit(text_at(record, "unit"));
  if (unit == nullptr || unit->kept != "ns") {
    return add_other(type, record, values);
  }
  ASSAY_ASSIGN_OR_RETURN(const auto value, number_at(record, "value"));
  if (value) {
    return add_value(type, *value, *unit, values);
  }
  const auto summary = record.find("summary");
  return summary != record.end() && summary->is_object() ? add_summary(type, record, *unit, values)
                                                         : Status();
}

/// A duration between two moments of a language model's run.
struct Duration {
  const char* name;
  const char* from;
  const char* to;
};

constexpr auto kDurations = std::to_array<Duration>({
    {"model_load", "model_load_start_ms", "model_load_end_ms"},
    {"inference", "inference_start_ms", "inference_end_ms"},
    {"prompt_eval", "inference_start_ms", "prompt_eval_end_ms"},
    {"time_to_first_token", "inference_start_ms", "first_token_ms"},
    {"generation", "prompt_eval_end_ms", "inference_end_ms"},
});

Result<std::optional<double>> duration_ns(const Json& record, const Duration& duration) {
  ASSAY_ASSIGN_OR_RETURN(const auto from, number_at(record, duration.from));
  ASSAY_ASSIGN_OR_RETURN(const auto to, number_at(record, duration.to));
  return from && to && *to >= *from ? std::optional((*to - *from) * kMsNs) : std::nullopt;
}

/// Tokens of one kind, and how many a second in the stage that takes them.
Status add_tokens(const Json& record, const char* key, const Duration& stage,
                  PrintedValues& values) {
  ASSAY_ASSIGN_OR_RETURN(const auto tokens, number_at(record, key));
  ASSAY_ASSIGN_OR_RETURN(const auto ns, duration_ns(record, stage));
  if (!tokens) {
    return {};
  }
  put_metric({.name = key, .unit = "count", .better = Better::kNone, .value = *tokens}, values);
  if (const double stage_ns = ns.value_or(0); stage_ns > 0) {
    put_metric({.name = fmt::format("{}_per_s", key),
                .unit = "1/s",
                .better = Better::kHigher,
                .value = *tokens * 1e9 / stage_ns},
               values);
  }
  return {};
}

Status add_language_model(const Json& record, PrintedValues& values) {
  for (const auto& duration : kDurations) {
    ASSAY_ASSIGN_OR_RETURN(const auto ns, duration_ns(record, duration));
    if (ns) {
      put_metric({.name = duration.name, .unit = "ns", .value = *ns}, values);
    }
  }
  ASSAY_RETURN_IF_ERROR(add_tokens(record, "prompt_tokens", kDurations[2], values));
  ASSAY_RETURN_IF_ERROR(add_tokens(record, "generated_tokens", kDurations[4], values));
  ASSAY_ASSIGN_OR_RETURN(const auto sampling, number_at(record, "aggregate_sampling_time_ms"));
  if (sampling) {
    put_metric({.name = "sampling", .unit = "ns", .value = *sampling * kMsNs}, values);
  }
  return {};
}

Status add_record(std::string_view text, PrintedValues& values) {
  const auto record = parse_json(text, "a record");
  if (!record || !record->is_object()) {
    return fail(ErrorCode::kEngine, fmt::format("no JSON object follows the observer's name: {}",
                                                text.substr(0, kMostShownRecord)));
  }
  const auto type = text_at(*record, "type");
  return type.empty() ? add_language_model(*record, values) : add_typed(type, *record, values);
}

}  // namespace

Status add_observed(std::string_view identifier, std::string_view printed, PrintedValues& values) {
  const auto opening = std::string(identifier) + " ";
  return visit_lines(printed, [&](std::string_view line) -> Status {
    const auto at = line.find(opening);
    if (at == std::string_view::npos) {
      return {};
    }
    const auto rest = line.substr(at + opening.size());
    const auto record = rest.substr(std::min(rest.find('{'), rest.size()));
    if (record.empty()) {
      return {};  // A word of the program's about itself.
    }
    if (record.size() > kMostRecordBytes) {
      return fail(ErrorCode::kEngine,
                  fmt::format("a record of {} bytes; at most {}", record.size(), kMostRecordBytes));
    }
    return add_record(record, values);
  });
}

}  // namespace assay::command
