#include "assay/store/merge_source.h"

#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/store/postgres/connection.h"
#include "assay/store/postgres/migrations.h"
#include "assay/store/sql/merge.h"
#include "assay/store/sqlite/connection.h"
#include "assay/store/sqlite/migrations.h"
#include "assay/store/store_address.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

/// A copy of the file with today's schema in `folder`.
Result<MergeSource> open_file_source(const stdfs::path& path, TemporaryFolder folder) {
  std::error_code error;
  if (!stdfs::exists(path, error)) {
    return fail(ErrorCode::kNotFound, fmt::format("no store '{}' to merge", path.string()));
  }
  ASSAY_ASSIGN_OR_RETURN(auto original, sqlite::Connection::open_to_read(path));
  ASSAY_ASSIGN_OR_RETURN(const auto schema, sqlite::schema_of(original));
  if (schema == 0) {
    return fail(ErrorCode::kCorrupt, original.name() + ": it is empty, not a store");
  }
  ASSAY_RETURN_IF_ERROR(original.check_pages());
  auto file = folder.path() / "other.db";
  ASSAY_ASSIGN_OR_RETURN(auto copy, sqlite::Connection::open(file));
  ASSAY_RETURN_IF_ERROR(original.copy_to(copy));
  ASSAY_RETURN_IF_ERROR(sqlite::migrate(copy));
  return MergeSource{.folder = std::move(folder),
                     .file = std::move(file),
                     .connection = std::make_unique<sqlite::Connection>(std::move(copy))};
}

}  // namespace

Result<MergeSource> open_merge_source(const std::string& address) {
  ASSAY_ASSIGN_OR_RETURN(auto folder, TemporaryFolder::make("assay-merge"));
  if (!is_database_url(address)) {
    return open_file_source(address, std::move(folder));
  }
  ASSAY_ASSIGN_OR_RETURN(auto connection,
                         postgres::Connection::open(address, postgres::Purpose::kCopyAll));
  ASSAY_RETURN_IF_ERROR(postgres::check_schema(*connection));
  ASSAY_RETURN_IF_ERROR(connection->begin_copy(sql::merged_tables()));
  return MergeSource{.folder = std::move(folder), .file = {}, .connection = std::move(connection)};
}

}  // namespace assay
