// Merging another store into a file: both are attached to one connection.
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "assay/base/result.h"
#include "assay/base/text.h"
#include "assay/store/merge_source.h"
#include "assay/store/sql/connection.h"
#include "assay/store/sql/merge.h"
#include "assay/store/sqlite/connection.h"
#include "assay/store/sqlite/migrations.h"
#include "assay/store/sqlite/sqlite_store.h"

namespace assay::sqlite {
namespace {

namespace stdfs = std::filesystem;

class FileTarget final : public sql::RowTarget {
 public:
  explicit FileTarget(Connection& connection) : connection_(connection) {}

  Status add_rows(std::string_view table, std::string_view columns, sql::Statement& rows) override {
    ASSAY_ASSIGN_OR_RETURN(bool has_row, rows.step());
    if (!has_row) {
      return {};
    }
    std::string marks = "?";
    for (int i = 1; i < rows.column_count(); ++i) {
      marks += ", ?";
    }
    ASSAY_ASSIGN_OR_RETURN(
        auto insert,
        connection_.prepare(fmt::format("INSERT INTO {} ({}) VALUES ({})", table, columns, marks)));
    while (has_row) {
      ASSAY_RETURN_IF_ERROR(insert.run_with(rows));
      ASSAY_ASSIGN_OR_RETURN(has_row, rows.step());
    }
    return {};
  }

 private:
  Connection& connection_;
};

/// A file in `folder` with all that the source holds.
Result<stdfs::path> file_from_source(sql::Connection& source, const stdfs::path& folder) {
  auto file = folder / "other.db";
  ASSAY_ASSIGN_OR_RETURN(auto staged, Connection::open(file));
  ASSAY_RETURN_IF_ERROR(migrate(staged));
  FileTarget target(staged);
  ASSAY_RETURN_IF_ERROR(staged.in_transaction([&] { return sql::stage_rows(source, target); }));
  return file;
}

Result<std::int64_t> merge_attached(sql::Connection& connection, const stdfs::path& file) {
  ASSAY_RETURN_IF_ERROR(connection.run("ATTACH ? AS other", file.string()));
  std::int64_t changes = 0;
  const auto status = connection.in_transaction([&]() -> Status {
    ASSAY_ASSIGN_OR_RETURN(changes, sql::copy_missing_rows(connection, {"main", "other"}));
    return {};
  });
  ASSAY_RETURN_IF_ERROR(connection.run("DETACH other"));
  ASSAY_RETURN_IF_ERROR(status);
  return changes;
}

Result<std::int64_t> merge_address(sql::Connection& connection, const std::string& other) {
  ASSAY_ASSIGN_OR_RETURN(const auto source, open_merge_source(other));
  auto file = source.file;
  if (file.empty()) {
    ASSAY_ASSIGN_OR_RETURN(file, file_from_source(*source.connection, source.folder.path()));
  }
  return merge_attached(connection, file);
}

}  // namespace

Result<std::int64_t> SqliteResultStore::merge_from(const std::string& other) {
  std::error_code error;
  if (stdfs::equivalent(other, path_, error)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' cannot be merged into itself; name another store", other));
  }
  auto merged = merge_address(connection(), other);
  if (!merged && merged.error().code != ErrorCode::kNotFound) {
    return fail_with_context(std::move(merged).error(), fmt::format("merging '{}'", other));
  }
  return merged;
}

}  // namespace assay::sqlite
