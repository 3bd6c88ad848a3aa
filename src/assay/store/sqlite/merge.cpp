#include <array>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
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
};

// A table stands behind those that it refers to. A run or attempt that was copied before it was
// finished is brought up to date; it never goes back.
constexpr auto kMergedTables = std::to_array<MergedTable>({
    {"environment", "rowid", ""},
    {"run", "rowid",
     "ON CONFLICT (id) DO UPDATE SET finished_unix_ns = excluded.finished_unix_ns "
     "WHERE run.finished_unix_ns = 0 AND excluded.finished_unix_ns <> 0"},
    {"case_identity", "rowid", ""},
    {"input_set", "rowid", ""},
    {"run_case", "rowid", ""},
    {"subject", "rowid", ""},
    {"artifact", "rowid", ""},
    {"reference", "rowid", ""},
    {"comparison", "rowid",
     "ON CONFLICT (id) DO UPDATE SET verdict = excluded.verdict, document = excluded.document "
     "WHERE comparison.document <> excluded.document AND "
     "json_extract(comparison.document, '$.text') = ''"},
    {"attempt", "rowid",
     "ON CONFLICT (id) DO UPDATE SET subject = excluded.subject, worker = excluded.worker, "
     "lease_until_unix_ns = excluded.lease_until_unix_ns, is_finished = excluded.is_finished, "
     "outcome = excluded.outcome, stage = excluded.stage, reason_code = excluded.reason_code, "
     "text = excluded.text WHERE attempt.is_finished = 0 AND excluded.is_finished = 1"},
    {"launch", "rowid", ""},
    {"sample_block", "launch", ""},
    {"op_event", "launch", ""},
    {"trace", "launch", ""},
    {"metric", "rowid", ""},
    {"attachment", "rowid", ""},
});

Status copy_tables(Connection& connection) {
  return in_transaction(connection, [&connection]() -> Status {
    for (const auto& table : kMergedTables) {
      const bool is_plain = table.on_conflict.empty();
      ASSAY_RETURN_IF_ERROR(connection.run(fmt::format(
          "INSERT {} INTO main.{} SELECT * FROM other.{} WHERE true ORDER BY {} {}",
          is_plain ? "OR IGNORE" : "", table.name, table.name, table.order, table.on_conflict)));
    }
    return {};
  });
}

// A copy of an older store with today's schema; the original stays as it is.
Status copy_migrated(Connection& source, const stdfs::path& path) {
  ASSAY_ASSIGN_OR_RETURN(auto copy, Connection::open(path));
  ASSAY_RETURN_IF_ERROR(source.copy_to(copy));
  return migrate(copy);
}

// The file to attach: `other` itself, or its migrated copy in `folder`.
Result<stdfs::path> current_copy_of(const stdfs::path& other, const stdfs::path& folder) {
  ASSAY_ASSIGN_OR_RETURN(auto source, Connection::open(other));
  ASSAY_ASSIGN_OR_RETURN(const auto schema, schema_of(source));
  if (schema == 0) {
    return fail(ErrorCode::kCorrupt, source.name() + ": it is empty, not a store");
  }
  if (schema == schema_version()) {
    return other;
  }
  auto copy = folder / "migrated.db";
  ASSAY_RETURN_IF_ERROR(copy_migrated(source, copy));
  return copy;
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
  ASSAY_ASSIGN_OR_RETURN(const auto file, current_copy_of(other, folder.path()));
  auto merged = merge_attached(connection_, file);
  if (!merged) {
    return fail_with_context(std::move(merged).error(),
                             fmt::format("merging '{}'", other.string()));
  }
  return merged;
}

}  // namespace assay::sqlite
