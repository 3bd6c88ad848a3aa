#include "assay/store/sqlite/sqlite_store.h"

#include <fmt/format.h>
#include <utility>

#include "assay/store/sqlite/migrations.h"

namespace assay {
namespace sqlite {

Result<std::unique_ptr<SqliteResultStore>> SqliteResultStore::open(
    const std::filesystem::path& path) {
  const auto context = fmt::format("store '{}'", path.string());
  auto connection = Connection::open(path);
  if (!connection) {
    return fail_with_context(std::move(connection).error(), context);
  }
  if (auto status = migrate(*connection); !status) {
    return fail_with_context(std::move(status).error(), context);
  }
  return std::unique_ptr<SqliteResultStore>(new SqliteResultStore(*std::move(connection), path));
}

}  // namespace sqlite

Result<std::unique_ptr<ResultStore>> open_sqlite_store(const std::filesystem::path& path) {
  return sqlite::SqliteResultStore::open(path);
}

}  // namespace assay
