#include "assay/store/sqlite/sqlite_store.h"

#include <filesystem>
#include <memory>
#include <utility>

#include "assay/base/result.h"
#include "assay/store/result_store.h"
#include "assay/store/sqlite/connection.h"
#include "assay/store/sqlite/migrations.h"

namespace assay {
namespace sqlite {

Result<std::unique_ptr<SqliteResultStore>> SqliteResultStore::open(
    const std::filesystem::path& path) {
  ASSAY_ASSIGN_OR_RETURN(auto connection, Connection::open(path));
  ASSAY_RETURN_IF_ERROR(migrate(connection));
  return std::unique_ptr<SqliteResultStore>(new SqliteResultStore(std::move(connection), path));
}

}  // namespace sqlite

Result<std::unique_ptr<ResultStore>> open_sqlite_store(const std::filesystem::path& path) {
  return sqlite::SqliteResultStore::open(path);
}

}  // namespace assay
