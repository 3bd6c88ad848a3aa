#include "assay/store/sqlite/sqlite_store.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/store/result_store.h"
#include "assay/store/sql/migrations.h"
#include "assay/store/sql/sql_store.h"
#include "assay/store/sqlite/connection.h"
#include "assay/store/sqlite/file_state.h"
#include "assay/store/sqlite/migrations.h"

namespace assay {
namespace sqlite {
namespace {

namespace stdfs = std::filesystem;

/// Reading as much costs a tenth of a second.
constexpr std::uintmax_t kMostCheckedBytes = std::uintmax_t{32} << 20;
constexpr const char* kInMemory = ":memory:";

Result<Connection> open_to_write(const stdfs::path& path, sql::Migrations migrations) {
  ASSAY_ASSIGN_OR_RETURN(auto connection, Connection::open(path));
  std::error_code error;
  const auto bytes = stdfs::file_size(path, error);
  if (!error && bytes <= kMostCheckedBytes) {
    ASSAY_RETURN_IF_ERROR(connection.check_pages());
  }
  ASSAY_RETURN_IF_ERROR(migrate(connection, migrations));
  return connection;
}

/// An older store is read through a copy with today's schema.
Result<Connection> open_current_to_read(const stdfs::path& path, sql::Migrations migrations) {
  const auto state = state_of_file(path);
  ASSAY_ASSIGN_OR_RETURN(auto connection, Connection::open_to_read(path));
  ASSAY_ASSIGN_OR_RETURN(const auto schema, schema_of(connection, migrations));
  if (schema == 0) {
    return fail(ErrorCode::kCorrupt, connection.name() + ": it is empty, not a store");
  }
  if (schema == sql::newest_schema(migrations)) {
    connection.expect_schema(schema);
    return connection;
  }
  ASSAY_ASSIGN_OR_RETURN(auto folder, TemporaryFolder::make("assay-store"));
  ASSAY_ASSIGN_OR_RETURN(auto copy, Connection::open(folder.path() / "migrated.db"));
  ASSAY_RETURN_IF_ERROR(connection.copy_to(copy));
  ASSAY_RETURN_IF_ERROR(migrate(copy, migrations));
  copy.follow(path, state, std::move(folder), [file = stdfs::absolute(path), migrations] {
    return open_current_to_read(file, migrations);
  });
  return copy;
}

/// Beside the file itself, wherever a link to it lies.
stdfs::path claims_file_of_store(const stdfs::path& path) {
  if (path == kInMemory) {
    return {};
  }
  std::error_code error;
  const auto real = stdfs::weakly_canonical(path, error);
  return (error ? path : real).string() + "-runs";
}

}  // namespace

SqliteResultStore::SqliteResultStore(std::unique_ptr<Connection> connection, stdfs::path path,
                                     StoreAccess access)
    : SqlResultStore(std::move(connection)),
      path_(std::move(path)),
      access_(access),
      claims_file_(claims_file_of_store(path_)) {}

Result<std::unique_ptr<SqliteResultStore>> SqliteResultStore::open(const stdfs::path& path,
                                                                   StoreAccess access,
                                                                   sql::Migrations migrations) {
  ASSAY_ASSIGN_OR_RETURN(auto opened, access == StoreAccess::kRead
                                          ? open_current_to_read(path, migrations)
                                          : open_to_write(path, migrations));
  return std::unique_ptr<SqliteResultStore>(
      new SqliteResultStore(std::make_unique<Connection>(std::move(opened)), path, access));
}

}  // namespace sqlite

Result<std::unique_ptr<ResultStore>> open_sqlite_store(const std::filesystem::path& path,
                                                       StoreAccess access) {
  return sqlite::SqliteResultStore::open(path, access);
}

}  // namespace assay
