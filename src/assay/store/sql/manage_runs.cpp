// Management of stored runs: listing, labelling, removal.
#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/record/comparison.h"
#include "assay/record/run.h"
#include "assay/store/result_store.h"
#include "assay/store/sql/connection.h"
#include "assay/store/sql/rows.h"
#include "assay/store/sql/run_list.h"
#include "assay/store/sql/sql_store.h"

namespace assay {

std::string RunListing::verb() const { return run.argv.size() < 2 ? "" : run.argv[1]; }

namespace sql {
namespace {

// Parameters: run_list_sql(). The condition on the id comes first.
constexpr std::string_view kAnyRun = "WHERE ?7 = '' AND ";
constexpr std::string_view kOneRun = "WHERE run.id = ?7 AND ";
constexpr std::string_view kWantedRuns =
    "(?1 = '' OR purpose = ?1) AND "
    "(?5 = '' OR {}) AND "
    "NOT EXISTS (SELECT 1 FROM json_each(?2) AS wanted WHERE "
    "NOT EXISTS (SELECT 1 FROM json_each(run.labels) AS own WHERE own.key = wanted.key AND "
    "(wanted.value = '' OR own.value = wanted.value))) AND "
    "NOT EXISTS (SELECT 1 FROM json_each(?3) AS wanted WHERE NOT "
    "instr(lower(run.id || ' ' || name || ' ' || argv || ' ' || labels), lower(wanted.value)) > 0 "
    "AND "
    "NOT EXISTS (SELECT 1 FROM run_case JOIN case_identity USING (case_key) "
    "WHERE run = run.id AND instr(lower(label), lower(wanted.value)) > 0)) AND "
    "(?6 = '' OR EXISTS (SELECT 1 FROM run_case WHERE run = run.id AND "
    "instr(lower(json_extract(document, '$.model.ref')), lower(?6)) > 0)) AND "
    "(?8 = '' OR EXISTS (SELECT 1 FROM run_case WHERE run = run.id AND run_case.engine_build IN "
    "(?8, (SELECT reference FROM engine_build WHERE id = ?8)))) AND "
    "(?9 = '' OR EXISTS (SELECT 1 FROM run_case JOIN engine_build ON "
    "run_case.engine_build = engine_build.reference WHERE run = run.id AND revision = ?9)) "
    "ORDER BY order_ns DESC, run.id DESC LIMIT ?4";

// NULL adds nothing.
constexpr std::string_view kBytesOfLaunches =
    "SELECT CAST(coalesce(sum(octet_length(conditions_before) + octet_length(conditions_after) + "
    "octet_length(process_end) + coalesce(octet_length(load), 0) + "
    "coalesce(octet_length(measurement), 0) + coalesce(octet_length(memory), 0) + "
    "coalesce(octet_length(profile), 0)), 0) AS BIGINT) FROM launch "
    "WHERE attempt IN (SELECT id FROM attempt WHERE run = ?1)";
constexpr std::string_view kBytesOfSamples =
    "SELECT CAST(coalesce(sum(octet_length(bytes)), 0) AS BIGINT) FROM sample_block WHERE launch "
    "IN (SELECT launch.id FROM launch JOIN attempt ON attempt.id = launch.attempt "
    "WHERE attempt.run = ?1)";
constexpr std::string_view kBytesOfAttachments =
    "SELECT CAST(coalesce(sum(octet_length(bytes)), 0) AS BIGINT) FROM attachment "
    "WHERE owner = ?1 OR owner IN (SELECT id FROM attempt WHERE run = ?1)";

// Each name once, in the order of the cases. {}: a path in the document of a case.
constexpr std::string_view kNamesInCases =
    "SELECT name FROM (SELECT rowid AS position, json_extract(document, '{}') AS name FROM "
    "run_case WHERE run = ?) AS named WHERE name <> '' GROUP BY name ORDER BY min(position)";

constexpr auto kNoLimit = std::numeric_limits<std::int64_t>::max();

template <class... Values>
Result<std::int64_t> number(Connection& connection, std::string_view sql, const Values&... values) {
  return get_one(
      connection.prepare(sql, values...),
      [](Statement& row) { return Result<std::int64_t>(row.integer(0)); }, "no row");
}

Result<std::vector<std::string>> texts(Connection& connection, std::string_view sql,
                                       const std::string& run) {
  return collect(connection.prepare(sql, run),
                 [](Statement& row) { return Result<std::string>(row.text(0)); });
}

Status count_attempts(Connection& connection, RunListing& listing) {
  ASSAY_ASSIGN_OR_RETURN(
      const auto counts,
      collect(connection.prepare("SELECT is_finished, outcome, count(*) FROM attempt "
                                 "WHERE run = ?1 AND worker NOT IN (SELECT id FROM "
                                 "late_execution WHERE run = ?1) GROUP BY is_finished, outcome",
                                 listing.run.id),
              [](Statement& row) -> Result<std::pair<bool, std::pair<Outcome, int>>> {
                ASSAY_ASSIGN_OR_RETURN(const auto outcome, enum_from_text<Outcome>(row.text(1)));
                return std::pair(row.integer(0) != 0,
                                 std::pair(outcome, static_cast<int>(row.integer(2))));
              }));
  for (const auto& [is_finished, count] : counts) {
    (is_finished ? listing.outcomes[count.first] : listing.unfinished_attempts) += count.second;
  }
  return {};
}

Status read_details(Connection& connection, RunListing& listing) {
  const auto& run = listing.run.id;
  ASSAY_ASSIGN_OR_RETURN(listing.models,
                         texts(connection, fmt::format(kNamesInCases, "$.model.ref"), run));
  ASSAY_ASSIGN_OR_RETURN(listing.recipes,
                         texts(connection, fmt::format(kNamesInCases, "$.recipe.name"), run));
  ASSAY_RETURN_IF_ERROR(count_attempts(connection, listing));
  ASSAY_ASSIGN_OR_RETURN(
      listing.comparisons,
      collect(
          connection.prepare(fmt::format("SELECT verdict FROM comparison WHERE {} ORDER BY rowid",
                                         kComparisonsThatCount),
                             run),
          [](Statement& row) { return enum_from_text<ComparisonVerdict>(row.text(0)); }));
  for (const auto sql : {kBytesOfLaunches, kBytesOfSamples, kBytesOfAttachments}) {
    ASSAY_ASSIGN_OR_RETURN(const auto bytes, number(connection, sql, run));
    listing.bytes += bytes;
  }
  return {};
}

// Tables that a run owns, in the order of removal: a row before those that it refers to.
constexpr auto kOwnedRows = std::to_array<std::string_view>({
    "DELETE FROM attachment WHERE owner = ?1 OR owner IN (SELECT id FROM attempt WHERE run = ?1) "
    "OR owner IN (SELECT id FROM comparison WHERE run = ?1) OR owner IN (SELECT launch.id FROM "
    "launch JOIN attempt ON attempt.id = launch.attempt WHERE attempt.run = ?1)",
    "DELETE FROM attachment WHERE kind = ?1 AND owner IN (SELECT id FROM reference)",
    "DELETE FROM sample_block WHERE launch IN (SELECT launch.id FROM launch JOIN attempt ON "
    "attempt.id = launch.attempt WHERE attempt.run = ?1)",
    "DELETE FROM op_event WHERE launch IN (SELECT launch.id FROM launch JOIN attempt ON "
    "attempt.id = launch.attempt WHERE attempt.run = ?1)",
    "DELETE FROM trace WHERE launch IN (SELECT launch.id FROM launch JOIN attempt ON "
    "attempt.id = launch.attempt WHERE attempt.run = ?1)",
    "DELETE FROM launch WHERE attempt IN (SELECT id FROM attempt WHERE run = ?1)",
    "DELETE FROM metric WHERE attempt IN (SELECT id FROM attempt WHERE run = ?1)",
    "DELETE FROM attempt WHERE run = ?1",
    "DELETE FROM execution WHERE run = ?1",
    "DELETE FROM comparison WHERE run = ?1",
    "DELETE FROM point WHERE run = ?1",
    "DELETE FROM run_case WHERE run = ?1",
    "DELETE FROM run_device WHERE run = ?1",
    "DELETE FROM run WHERE id = ?1",
});

// Rows that runs share, removed once none refers to them.
constexpr auto kUnusedRows = std::to_array<std::string_view>({
    "DELETE FROM subject WHERE NOT EXISTS (SELECT 1 FROM attempt WHERE subject = subject_key)",
    "DELETE FROM artifact WHERE NOT EXISTS (SELECT 1 FROM attempt WHERE artifact = artifact.id)",
    // An attachment of a reference names a run that uses it.
    "DELETE FROM reference WHERE NOT EXISTS (SELECT 1 FROM attachment WHERE owner = reference.id)",
    "DELETE FROM case_identity WHERE NOT EXISTS (SELECT 1 FROM run_case WHERE "
    "run_case.case_key = case_identity.case_key) AND NOT EXISTS (SELECT 1 FROM attempt WHERE "
    "attempt.case_key = case_identity.case_key)",
    "DELETE FROM input_set WHERE NOT EXISTS (SELECT 1 FROM run_case WHERE input_set = digest) AND "
    "NOT EXISTS (SELECT 1 FROM run_case WHERE calibration_set = digest)",
    "DELETE FROM series WHERE NOT EXISTS (SELECT 1 FROM point WHERE series = series_key)",
    "DELETE FROM environment_record WHERE NOT EXISTS (SELECT 1 FROM run WHERE "
    "run.environment_key = environment_record.environment_key) AND NOT EXISTS (SELECT 1 FROM "
    "run_device WHERE run_device.environment_key = environment_record.environment_key)",
    "DELETE FROM environment WHERE NOT EXISTS (SELECT 1 FROM run WHERE environment = "
    "environment.id) AND NOT EXISTS (SELECT 1 FROM attachment WHERE owner = environment.id) AND "
    "NOT EXISTS (SELECT 1 FROM environment_record WHERE environment = environment.id)",
});

Status check_run(Connection& connection, std::string_view run) {
  ASSAY_ASSIGN_OR_RETURN(const auto count,
                         number(connection, "SELECT count(*) FROM run WHERE id = ?", run));
  return count == 0 ? fail(ErrorCode::kNotFound, fmt::format("no run '{}' in the store", run))
                    : Status();
}

}  // namespace

std::string run_list_sql(const RunFilter& filter) {
  return fmt::format(
      "SELECT {}, (SELECT count(*) FROM run_case WHERE run = run.id), (SELECT count(*) FROM launch "
      "JOIN attempt ON attempt.id = launch.attempt WHERE attempt.run = run.id AND attempt.worker "
      "NOT IN (SELECT id FROM late_execution WHERE late_execution.run = run.id)) FROM run {}{}",
      kRunColumns, filter.id.empty() ? kAnyRun : kOneRun,
      fmt::format(kWantedRuns, made_by_sql("?5")));
}

Result<std::vector<RunListing>> SqlResultStore::list_runs(const RunFilter& filter) {
  const std::int64_t limit = filter.limit < 0 ? kNoLimit : filter.limit;
  ASSAY_ASSIGN_OR_RETURN(
      auto listings,
      collect(
          connection_.prepare(run_list_sql(filter), filter.purpose, text_from_record(filter.labels),
                              text_from_record(filter.texts), limit, filter.made_by, filter.model,
                              filter.id, filter.engine_build, filter.revision),
          [](Statement& row) -> Result<RunListing> {
            ASSAY_ASSIGN_OR_RETURN(auto run, read_run(row));
            return RunListing{.run = std::move(run),
                              .cases = static_cast<int>(row.integer(kRunColumnCount)),
                              .launches = static_cast<int>(row.integer(kRunColumnCount + 1))};
          }));
  for (auto& listing : listings) {
    if (filter.has_details) {
      ASSAY_RETURN_IF_ERROR(read_details(connection_, listing));
    }
    ASSAY_ASSIGN_OR_RETURN(listing.is_in_use, is_claimed_elsewhere(listing.run.id));
  }
  return listings;
}

Status SqlResultStore::tag_run(std::string_view run_id,
                               const std::map<std::string, std::string>& labels,
                               std::span<const std::string> removed) {
  return connection_.in_transaction([&]() -> Status {
    ASSAY_ASSIGN_OR_RETURN(
        auto known, get_one(
                        connection_.prepare(fmt::format("SELECT labels FROM run WHERE id = ?{}",
                                                        connection_.lock_words(RowLock::kChanged)),
                                            run_id),
                        [](Statement& row) {
                          return record_from_text<std::map<std::string, std::string>>(row.text(0),
                                                                                      "labels");
                        },
                        fmt::format("no run '{}' in the store", run_id)));
    for (const auto& [name, value] : labels) {
      known[name] = value;
    }
    for (const auto& name : removed) {
      known.erase(name);
    }
    return connection_.run("UPDATE run SET labels = ? WHERE id = ?", text_from_record(known),
                           run_id);
  });
}

Status SqlResultStore::remove_run(std::string_view run_id) {
  ASSAY_ASSIGN_OR_RETURN(const bool is_ours, take_run(run_id));
  if (!is_ours) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("run {} is in use: another process measures or reads it; wait until "
                            "that ends, or end it",
                            run_id));
  }
  const auto removed = remove_rows(run_id);
  const auto released = release_run(run_id);
  return removed ? released : removed;
}

Status SqlResultStore::remove_rows(std::string_view run_id) {
  return connection_.in_transaction([&]() -> Status {
    ASSAY_RETURN_IF_ERROR(check_run(connection_, run_id));
    for (const auto sql : kOwnedRows) {
      ASSAY_RETURN_IF_ERROR(connection_.run(sql, run_id));
    }
    for (const auto sql : kUnusedRows) {
      ASSAY_RETURN_IF_ERROR(connection_.run(sql));
    }
    return {};
  });
}

}  // namespace sql
}  // namespace assay
