#include "assay/store/sql/merge.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/store/sql/connection.h"

namespace assay::sql {
namespace {

constexpr std::string_view kRowNumber = "rowid";

struct MergedTable {
  std::string_view name;
  std::string_view order;        ///< Rows arrive in this order, so that reading them back keeps it.
  std::string_view on_conflict;  ///< Empty: the row that is there stays. {0}: this store.
  std::string_view key;          ///< Columns by which a row is known; empty: all of them.
  std::string_view fixed;        ///< Columns that are equal wherever the key is.
  /// When they are: "true", or where both rows, `own` and `their`, are at their end.
  std::string_view when = "true";
};

/// Rows that belong to runs, whose ids ?1 holds as a JSON array.
struct RowsOfRuns {
  std::string_view table;
  std::string_view condition;
};

constexpr std::string_view kRunsOfList = "(SELECT value FROM json_each(?1))";

// {0}: the list of runs. References and incidents belong to no run.
constexpr auto kRowsOfRuns = std::to_array<RowsOfRuns>({
    {"environment",
     "id IN (SELECT environment FROM run WHERE id IN {0}) OR id IN (SELECT environment FROM "
     "environment_record JOIN run_device USING (environment_key) WHERE run IN {0})"},
    {"environment_record",
     "environment_key IN (SELECT environment_key FROM run WHERE id IN {0} UNION "
     "SELECT environment_key FROM run_device WHERE run IN {0})"},
    {"run", "id IN {0}"},
    {"run_device", "run IN {0}"},
    {"case_identity",
     "case_key IN (SELECT case_key FROM run_case WHERE run IN {0} UNION "
     "SELECT case_key FROM attempt WHERE run IN {0})"},
    {"input_set",
     "digest IN (SELECT input_set FROM run_case WHERE run IN {0} UNION "
     "SELECT calibration_set FROM run_case WHERE run IN {0})"},
    {"run_case", "run IN {0}"},
    {"subject", "subject_key IN (SELECT subject FROM attempt WHERE run IN {0})"},
    {"artifact", "id IN (SELECT artifact FROM attempt WHERE run IN {0})"},
    {"reference", "'' IN {0}"},
    {"comparison", "run IN {0}"},
    {"attempt", "run IN {0}"},
    {"execution", "run IN {0}"},
    {"launch", "attempt IN (SELECT id FROM attempt WHERE run IN {0})"},
    {"sample_block",
     "launch IN (SELECT launch.id FROM launch JOIN attempt ON attempt.id = launch.attempt WHERE "
     "run IN {0})"},
    {"op_event",
     "launch IN (SELECT launch.id FROM launch JOIN attempt ON attempt.id = launch.attempt WHERE "
     "run IN {0})"},
    {"trace",
     "launch IN (SELECT launch.id FROM launch JOIN attempt ON attempt.id = launch.attempt WHERE "
     "run IN {0})"},
    {"metric", "attempt IN (SELECT id FROM attempt WHERE run IN {0})"},
    {"attachment",
     "owner IN {0} OR owner IN (SELECT id FROM attempt WHERE run IN {0}) OR "
     "owner IN (SELECT id FROM comparison WHERE run IN {0}) OR "
     "owner IN (SELECT environment FROM run WHERE id IN {0}) OR "
     "owner IN (SELECT environment FROM environment_record JOIN run_device USING "
     "(environment_key) WHERE run IN {0}) OR "
     "owner IN (SELECT launch.id FROM launch JOIN attempt ON attempt.id = launch.attempt WHERE "
     "run IN {0})"},
    {"repository",
     "id IN (SELECT repository FROM engine_build JOIN run_case ON "
     "run_case.engine_build = engine_build.reference WHERE run IN {0}) OR "
     "id IN (SELECT repository FROM series JOIN point ON series = series_key WHERE run IN {0})"},
    {"revision",
     "EXISTS (SELECT 1 FROM engine_build JOIN run_case ON "
     "run_case.engine_build = engine_build.reference WHERE run IN {0} AND "
     "engine_build.repository = revision.repository AND engine_build.revision = revision.hash)"},
    {"engine_build", "reference IN (SELECT engine_build FROM run_case WHERE run IN {0})"},
    {"incident", "'' IN {0}"},
    {"series", "series_key IN (SELECT series FROM point WHERE run IN {0})"},
    {"point", "run IN {0}"},
});

// The runs that the other store has more of than this one, which copied them before they went on:
// both numbers only grow. What is put again while a run goes on is taken from the one that is
// ahead. Reckoned before anything is copied. {0}: this store, {1}: the other one.
constexpr std::string_view kRunsAhead =
    "CREATE TEMPORARY TABLE run_ahead AS SELECT own.id AS run FROM {0}.run AS own JOIN {1}.run AS "
    "their ON their.id = own.id WHERE own.finished_unix_ns = 0 AND (their.finished_unix_ns <> 0 OR "
    "(SELECT count(*) FROM {1}.launch AS l JOIN {1}.attempt AS a ON a.id = l.attempt WHERE a.run = "
    "own.id) + (SELECT coalesce(sum(is_finished), 0) FROM {1}.attempt AS a WHERE a.run = own.id) > "
    "(SELECT count(*) FROM {0}.launch AS l JOIN {0}.attempt AS a ON a.id = l.attempt WHERE a.run = "
    "own.id) + (SELECT coalesce(sum(is_finished), 0) FROM {0}.attempt AS a WHERE a.run = own.id))";

// A table stands behind those that it refers to. A run or attempt that was copied before it was
// finished is brought up to date, and so is an incident; neither goes back.
constexpr auto kMergedTables = std::to_array<MergedTable>({
    {"environment", "rowid", "", "id", "device_class"},
    {"environment_record", "rowid", "", "environment_key", "environment, document"},
    {"run", "rowid",
     "ON CONFLICT (id) DO UPDATE SET finished_unix_ns = excluded.finished_unix_ns "
     "WHERE run.finished_unix_ns = 0 AND excluded.finished_unix_ns <> 0",
     "id", "purpose, name, seed, argv, spec_digest, spec, environment, started_unix_ns"},
    // A device may tell another description with each job of a fleet.
    {"run_device", "run, device",
     "ON CONFLICT (run, device) DO UPDATE SET environment_key = excluded.environment_key "
     "WHERE excluded.environment_key < run_device.environment_key",
     "", ""},
    {"case_identity", "rowid", "", "case_key", "identity"},
    {"input_set", "rowid", "", "digest", "role, document"},
    {"run_case", "rowid",
     "ON CONFLICT (run, case_key, engine_build, device) DO UPDATE SET input_set = "
     "excluded.input_set, calibration_set = excluded.calibration_set, document = excluded.document "
     "WHERE run_case.document <> excluded.document AND run_case.run IN (SELECT run FROM run_ahead)",
     "", ""},
    {"subject", "rowid", "", "subject_key",
     "engine_build, engine_build_id, toolchain_id, artifact_digest"},
    {"artifact", "rowid", "", "id", "digest, cache_key, folder, entry, files, manifest"},
    {"reference", "rowid", "", "id", "reference_key, kind, folder, document"},
    {"comparison", "rowid",
     "ON CONFLICT (id) DO UPDATE SET verdict = excluded.verdict, document = excluded.document "
     "WHERE comparison.document <> excluded.document AND "
     "comparison.run IN (SELECT run FROM run_ahead)",
     "id", "run, a_case, b_case"},
    {"attempt", "rowid",
     "ON CONFLICT (id) DO UPDATE SET subject = excluded.subject, artifact = excluded.artifact, "
     "worker = excluded.worker, "
     "lease_until_unix_ns = excluded.lease_until_unix_ns, is_finished = excluded.is_finished, "
     "outcome = excluded.outcome, stage = excluded.stage, reason_code = excluded.reason_code, "
     "text = excluded.text WHERE attempt.is_finished = 0 AND excluded.is_finished = 1",
     "id",
     "run, case_key, subject, device, pass, n, is_finished, outcome, stage, reason_code, text",
     "own.is_finished = 1 AND their.is_finished = 1"},
    {"execution", "finished_unix_ns, id",
     "ON CONFLICT (id) DO UPDATE SET accepted_unix_ns = excluded.accepted_unix_ns WHERE "
     "excluded.accepted_unix_ns <> 0 AND (execution.accepted_unix_ns = 0 OR "
     "excluded.accepted_unix_ns < execution.accepted_unix_ns)",
     "id", "run, job, n, worker, device, started_unix_ns, finished_unix_ns"},
    {"launch", "rowid", "", "id",
     "attempt, launch_index, run_order, comparison, block, pair, side, core_set, is_fresh, "
     "outcome, stage, reason_code, text, wall_ns, overhead_ns, conditions_before, "
     "conditions_after, process_end, load, measurement, memory, profile, pair_phase, pairing, "
     "digest, sampling"},
    {"sample_block", "launch", "", "launch, metric, step, phase", "n, codec, bytes"},
    {"op_event", "launch", "", "launch, position",
     "name, kind, instruction, calls, total_ns, min_ns, median_ns"},
    {"trace", "launch", "", "launch, channel", "unit, n, codec, times_ns, readings"},
    {"metric", "rowid",
     "ON CONFLICT (attempt, launch, name, version, scope) DO UPDATE SET value = excluded.value, "
     "special = excluded.special WHERE (metric.value, metric.special) <> (excluded.value, "
     "excluded.special) AND metric.attempt IN (SELECT id FROM {0}.attempt JOIN run_ahead USING "
     "(run))",
     "", ""},
    {"attachment", "rowid", "", "owner, kind, digest", "codec, bytes"},
    {"repository", "rowid", "", "id", "kind, url, engine"},
    // Who knows more commits counts a revision further from the root.
    {"revision", "hash",
     "ON CONFLICT (repository, hash) DO UPDATE SET position = excluded.position "
     "WHERE excluded.position > revision.position",
     "repository, hash", "parents, author, authored_unix_ns, committed_unix_ns, subject"},
    {"engine_build", "rowid", "", "id", "document"},
    {"incident", "rowid",
     "ON CONFLICT (id) DO UPDATE SET state = excluded.state, document = excluded.document, "
     "changed_unix_ns = excluded.changed_unix_ns "
     "WHERE excluded.changed_unix_ns > incident.changed_unix_ns",
     "id", "repository, opened_unix_ns"},
    {"series", "rowid", "", "series_key", "repository"},
    {"point", "series, position", "", "series, position, revision, run",
     "machine, reference, value, \"offset\", low, high, measured_unix_ns"},
});

static_assert(kRowsOfRuns.size() == kMergedTables.size());

// "own.a, own.b" from "a, b".
std::string qualified(std::string_view table, std::string_view columns) {
  std::string text;
  for (std::size_t begin = 0; begin < columns.size();) {
    const auto end = std::min(columns.find(", ", begin), columns.size());
    text +=
        fmt::format("{}{}.{}", text.empty() ? "" : ", ", table, columns.substr(begin, end - begin));
    begin = end + 2;
  }
  return text;
}

// A row whose key is here and there, and whose content is not the same, is none that Assay wrote.
Status check_equal_rows(Connection& connection, const MergedTable& table, const MergeSides& sides) {
  if (table.key.empty()) {
    return {};
  }
  const auto own_key = qualified("own", table.key);
  ASSAY_ASSIGN_OR_RETURN(
      auto row, connection.prepare(fmt::format(
                    "SELECT {} FROM {}.{} AS own JOIN {}.{} AS their ON ({}) = ({}) WHERE {} AND "
                    "({}) IS DISTINCT FROM ({}) LIMIT 1",
                    own_key, sides.own, table.name, sides.other, table.name, own_key,
                    qualified("their", table.key), table.when, qualified("own", table.fixed),
                    qualified("their", table.fixed))));
  ASSAY_ASSIGN_OR_RETURN(const bool has_row, row.step());
  return has_row ? fail(ErrorCode::kConflict,
                        fmt::format("the {} '{}' differs here and there, so one of the stores was "
                                    "changed or is damaged; nothing was merged",
                                    table.name, row.text(0)))
                 : Status();
}

// Those that hold data: PostgreSQL has row numbers in a column of that name.
Result<std::string> columns_of(Connection& connection, const std::string& table) {
  ASSAY_ASSIGN_OR_RETURN(auto rows,
                         connection.prepare(fmt::format("SELECT * FROM {} WHERE false", table)));
  ASSAY_RETURN_IF_ERROR(rows.step());
  std::string columns;
  for (int i = 0; i < rows.column_count(); ++i) {
    if (const auto name = rows.column_name(i); name != kRowNumber) {
      columns += fmt::format("{}\"{}\"", columns.empty() ? "" : ", ", name);
    }
  }
  return columns;
}

Result<std::int64_t> copy_table(Connection& connection, const MergedTable& table,
                                const MergeSides& sides) {
  ASSAY_RETURN_IF_ERROR(check_equal_rows(connection, table, sides));
  ASSAY_ASSIGN_OR_RETURN(const auto columns,
                         columns_of(connection, fmt::format("{}.{}", sides.own, table.name)));
  const auto on_conflict = table.on_conflict.empty()
                               ? std::string("ON CONFLICT DO NOTHING")
                               : fmt::format(fmt::runtime(table.on_conflict), sides.own);
  ASSAY_ASSIGN_OR_RETURN(
      auto statement,
      connection.prepare(fmt::format(
          "INSERT INTO {}.{} ({}) SELECT {} FROM {}.{} WHERE true ORDER BY {} {}", sides.own,
          table.name, columns, columns, sides.other, table.name, table.order, on_conflict)));
  return statement.run_counted();
}

/// `condition`: of the rows; ?1 is `runs`.
Status stage_table(Connection& source, RowTarget& target, const MergedTable& table,
                   std::string_view condition, const std::string& runs) {
  ASSAY_ASSIGN_OR_RETURN(const auto columns, columns_of(source, std::string(table.name)));
  const auto sql = fmt::format("SELECT {} FROM {} WHERE {} ORDER BY {}", columns, table.name,
                               condition, table.order);
  ASSAY_ASSIGN_OR_RETURN(auto rows, runs.empty() ? source.prepare(sql) : source.prepare(sql, runs));
  return target.add_rows(table.name, columns, rows);
}

}  // namespace

std::vector<std::string_view> merged_tables() {
  std::vector<std::string_view> names;
  names.reserve(kMergedTables.size());
  for (const auto& table : kMergedTables) {
    names.push_back(table.name);
  }
  return names;
}

Result<std::int64_t> copy_missing_rows(Connection& connection, const MergeSides& sides) {
  std::int64_t changed = 0;
  ASSAY_RETURN_IF_ERROR(
      connection.run(fmt::format(fmt::runtime(kRunsAhead), sides.own, sides.other)));
  for (const auto& table : kMergedTables) {
    ASSAY_ASSIGN_OR_RETURN(const auto rows, copy_table(connection, table, sides));
    changed += rows;
  }
  ASSAY_RETURN_IF_ERROR(connection.run("DROP TABLE run_ahead"));
  return changed;
}

Status stage_rows(Connection& source, RowTarget& target) {
  for (const auto& table : kMergedTables) {
    ASSAY_RETURN_IF_ERROR(stage_table(source, target, table, "true", {}));
  }
  return {};
}

Status stage_rows_of_runs(Connection& source, RowTarget& target, const std::string& runs) {
  for (const auto& table : kMergedTables) {
    const auto* const rows = std::ranges::find(kRowsOfRuns, table.name, &RowsOfRuns::table);
    ASSAY_CHECK(rows != kRowsOfRuns.end());
    const auto condition = fmt::format(fmt::runtime(rows->condition), kRunsOfList);
    ASSAY_RETURN_IF_ERROR(stage_table(source, target, table, condition, runs));
  }
  return {};
}

}  // namespace assay::sql
