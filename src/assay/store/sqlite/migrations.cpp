#include "assay/store/sqlite/migrations.h"

#include <cstdint>
#include <fmt/format.h>

#include "assay/base/result.h"
#include "assay/store/sql/migrations.h"
#include "assay/store/sqlite/connection.h"

namespace assay::sqlite {
namespace {

constexpr sql::Dialect kDialect{.text = "TEXT",
                                .integer = "INTEGER",
                                .real = "REAL",
                                .blob = "BLOB",
                                .rowid = "",
                                .without_rowid = " WITHOUT ROWID"};

}  // namespace

Result<std::int64_t> schema_of(Connection& connection, sql::Migrations migrations) {
  ASSAY_ASSIGN_OR_RETURN(const auto application, connection.get_integer("PRAGMA application_id"));
  ASSAY_ASSIGN_OR_RETURN(const auto version, connection.get_integer("PRAGMA user_version"));
  ASSAY_ASSIGN_OR_RETURN(const auto tables,
                         connection.get_integer("SELECT count(*) FROM sqlite_schema"));
  const bool is_new = application == 0 && version == 0 && tables == 0;
  if (!is_new && application != kApplicationId) {
    return fail(ErrorCode::kCorrupt, connection.name() +
                                         ": it is a database of another program; name another "
                                         "file for the store");
  }
  ASSAY_RETURN_IF_ERROR(sql::check_schema_is_known(connection, version, migrations));
  return version;
}

Status migrate(Connection& connection, sql::Migrations migrations) {
  const auto newest = sql::newest_schema(migrations);
  ASSAY_ASSIGN_OR_RETURN(const auto found, schema_of(connection, migrations));
  if (found == newest) {
    return {};
  }
  return connection.in_transaction([&]() -> Status {
    // Another process may have come first.
    ASSAY_ASSIGN_OR_RETURN(const auto version, schema_of(connection, migrations));
    ASSAY_RETURN_IF_ERROR(sql::run_migrations(connection, kDialect, version, migrations));
    return connection.run_script(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}",
                                             kApplicationId, newest));
  });
}

}  // namespace assay::sqlite
