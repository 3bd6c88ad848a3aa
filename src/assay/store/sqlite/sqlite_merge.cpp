// Merging another store into a file: both are attached to one connection.
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <system_error>
#include <utility>

#include "assay/base/result.h"
#include "assay/store/merge_source.h"
#include "assay/store/sql/connection.h"
#include "assay/store/sql/merge.h"
#include "assay/store/sqlite/connection.h"
#include "assay/store/sqlite/rows_file.h"
#include "assay/store/sqlite/sqlite_store.h"

namespace assay::sqlite {
namespace {

namespace stdfs = std::filesystem;

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
    file = source.folder.path() / "other.db";
    ASSAY_RETURN_IF_ERROR(make_store_of_rows(file, [&source](sql::RowTarget& target) {
      return sql::stage_rows(*source.connection, target);
    }));
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
