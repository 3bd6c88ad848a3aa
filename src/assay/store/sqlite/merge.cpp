#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/store/sqlite/connection.h"
#include "assay/store/sqlite/migrations.h"
#include "assay/store/sqlite/sqlite_store.h"

namespace assay::sqlite {
namespace {

namespace stdfs = std::filesystem;

struct MergedTable {
  std::string_view name;
  std::string_view order;        ///< Rows arrive in this order, so that reading them back keeps it.
  std::string_view on_conflict;  ///< Empty: the row that is there stays.
  std::string_view key;          ///< Columns by which a row is known; empty: all of them.
  std::string_view fixed;        ///< Columns that are equal wherever the key is.
  /// When they are: "true", or where both rows, `own` and `their`, are at their end.
  std::string_view when = "true";
};

// A table stands behind those that it refers to. A run or attempt that was copied before it was
// finished is brought up to date, and so is an incident; neither goes back.
constexpr auto kMergedTables = std::to_array<MergedTable>({
    {"environment", "rowid", "", "id", "device_class"},
    {"environment_record", "rowid", "", "environment_key", "environment, document"},
    {"run", "rowid",
     "ON CONFLICT (id) DO UPDATE SET finished_unix_ns = excluded.finished_unix_ns "
     "WHERE run.finished_unix_ns = 0 AND excluded.finished_unix_ns <> 0",
     "id", "purpose, name, seed, argv, spec_digest, spec, environment, started_unix_ns"},
    {"run_device", "run, device", "", "run, device", "environment_key"},
    {"case_identity", "rowid", "", "case_key", "identity"},
    {"input_set", "rowid", "", "digest", "role, document"},
    {"run_case", "rowid", ""},
    {"subject", "rowid", "", "subject_key",
     "engine_build, engine_build_id, toolchain_id, artifact_digest"},
    {"artifact", "rowid", "", "id", "digest, cache_key, folder, entry, files, manifest"},
    {"reference", "rowid", "", "id", "reference_key, kind, folder, document"},
    {"comparison", "rowid",
     "ON CONFLICT (id) DO UPDATE SET verdict = excluded.verdict, document = excluded.document "
     "WHERE comparison.document <> excluded.document AND "
     "json_extract(comparison.document, '$.text') = ''",
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
    {"launch", "rowid", "", "id",
     "attempt, launch_index, run_order, comparison, block, pair, side, core_set, is_fresh, "
     "outcome, stage, reason_code, text, wall_ns, overhead_ns, conditions_before, "
     "conditions_after, process_end, load, measurement, memory, profile, pair_phase, pairing, "
     "digest, sampling"},
    {"sample_block", "launch", "", "launch, metric, step, phase", "n, codec, bytes"},
    {"op_event", "launch", "", "launch, position",
     "name, kind, instruction, calls, total_ns, min_ns, median_ns"},
    {"trace", "launch", "", "launch, channel", "unit, n, codec, times_ns, readings"},
    {"metric", "rowid", ""},
    {"attachment", "rowid", "", "owner, kind, digest", "codec, bytes"},
    {"repository", "rowid", "", "id", "kind, url, engine"},
    {"revision", "hash", "", "repository, hash",
     "parents, position, author, authored_unix_ns, committed_unix_ns, subject"},
    {"engine_build", "rowid", "", "id", "document"},
    {"incident", "rowid",
     "ON CONFLICT (id) DO UPDATE SET state = excluded.state, document = excluded.document, "
     "changed_unix_ns = excluded.changed_unix_ns "
     "WHERE excluded.changed_unix_ns > incident.changed_unix_ns",
     "id", "repository, opened_unix_ns"},
    {"series", "rowid", "", "series_key", "repository"},
    {"point", "series, position", "", "series, position, revision, run",
     "machine, reference, value, offset, low, high, measured_unix_ns"},
});

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
Status check_equal_rows(Connection& connection, const MergedTable& table) {
  if (table.key.empty()) {
    return {};
  }
  const auto own_key = qualified("own", table.key);
  const auto sql = fmt::format(
      "SELECT {} FROM main.{} AS own JOIN other.{} AS their ON ({}) = ({}) WHERE {} AND "
      "({}) IS NOT ({}) LIMIT 1",
      own_key, table.name, table.name, own_key, qualified("their", table.key), table.when,
      qualified("own", table.fixed), qualified("their", table.fixed));
  ASSAY_ASSIGN_OR_RETURN(auto row, connection.prepare(sql));
  ASSAY_ASSIGN_OR_RETURN(const bool has_row, row.step());
  return has_row ? fail(ErrorCode::kCorrupt,
                        fmt::format("the {} '{}' differs here and there, so one of the stores was "
                                    "changed or is damaged; nothing was merged",
                                    table.name, row.text(0)))
                 : Status();
}

Status copy_tables(Connection& connection) {
  return in_transaction(connection, [&connection]() -> Status {
    for (const auto& table : kMergedTables) {
      ASSAY_RETURN_IF_ERROR(check_equal_rows(connection, table));
      const bool is_plain = table.on_conflict.empty();
      ASSAY_RETURN_IF_ERROR(connection.run(fmt::format(
          "INSERT {} INTO main.{} SELECT * FROM other.{} WHERE true ORDER BY {} {}",
          is_plain ? "OR IGNORE" : "", table.name, table.name, table.order, table.on_conflict)));
    }
    return {};
  });
}

/// A copy of the other store with today's schema in `folder`; the original stays as it is.
Result<stdfs::path> current_copy_from(const stdfs::path& other, const stdfs::path& folder) {
  ASSAY_ASSIGN_OR_RETURN(auto source, Connection::open_to_read(other));
  ASSAY_ASSIGN_OR_RETURN(const auto schema, schema_of(source));
  if (schema == 0) {
    return fail(ErrorCode::kCorrupt, source.name() + ": it is empty, not a store");
  }
  ASSAY_RETURN_IF_ERROR(source.check_pages());
  auto path = folder / "other.db";
  ASSAY_ASSIGN_OR_RETURN(auto copy, Connection::open(path));
  ASSAY_RETURN_IF_ERROR(source.copy_to(copy));
  ASSAY_RETURN_IF_ERROR(migrate(copy));
  return path;
}

Result<std::int64_t> merge_attached(Connection& connection, const stdfs::path& file) {
  ASSAY_RETURN_IF_ERROR(connection.run("ATTACH ? AS other", file.string()));
  const auto before = connection.total_changes();
  const auto status = copy_tables(connection);
  const auto changes = connection.total_changes() - before;
  ASSAY_RETURN_IF_ERROR(connection.run("DETACH other"));
  ASSAY_RETURN_IF_ERROR(status);
  return changes;
}

}  // namespace

Result<std::int64_t> SqliteResultStore::merge_from(const stdfs::path& other) {
  std::error_code error;
  if (!stdfs::exists(other, error)) {
    return fail(ErrorCode::kNotFound, fmt::format("no store '{}' to merge", other.string()));
  }
  if (stdfs::equivalent(other, path_, error)) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("'{}' cannot be merged into itself; name another store", other.string()));
  }
  ASSAY_ASSIGN_OR_RETURN(const auto folder, TemporaryFolder::make("assay-merge"));
  ASSAY_ASSIGN_OR_RETURN(const auto file, current_copy_from(other, folder.path()));
  auto merged = merge_attached(connection_, file);
  if (!merged) {
    return fail_with_context(std::move(merged).error(),
                             fmt::format("merging '{}'", other.string()));
  }
  return merged;
}

}  // namespace assay::sqlite
