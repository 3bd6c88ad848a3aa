// Rights of users of a database server.
#include <fmt/format.h>
#include <memory>
#include <string>
#include <string_view>

#include "assay/base/result.h"
#include "assay/store/grant.h"
#include "assay/store/postgres/connection.h"
#include "assay/store/postgres/migrations.h"
#include "assay/store/sql/connection.h"

namespace assay {
namespace postgres {
namespace {

std::string_view rights_of(StoreRole role) {
  return role == StoreRole::kReader ? "SELECT" : "SELECT, INSERT, UPDATE";
}

Status check_user(sql::Connection& connection, const std::string& user) {
  ASSAY_ASSIGN_OR_RETURN(auto row,
                         connection.prepare("SELECT 1 FROM pg_roles WHERE rolname = ?", user));
  ASSAY_ASSIGN_OR_RETURN(const bool is_there, row.step());
  return is_there ? Status()
                  : fail(ErrorCode::kNotFound,
                         fmt::format("the server has no user '{}'; createuser makes one", user));
}

/// The name as SQL takes it.
Result<std::string> quoted_name(sql::Connection& connection, const std::string& name) {
  ASSAY_ASSIGN_OR_RETURN(auto row, connection.prepare("SELECT quote_ident(?)", name));
  ASSAY_RETURN_IF_ERROR(row.step());
  return row.text(0);
}

}  // namespace
}  // namespace postgres

Status grant_role(const std::string& url, StoreRole role, const std::string& user) {
  ASSAY_ASSIGN_OR_RETURN(const auto connection,
                         postgres::Connection::open(url, postgres::Purpose::kWrite));
  ASSAY_RETURN_IF_ERROR(postgres::migrate(*connection));
  ASSAY_RETURN_IF_ERROR(postgres::check_user(*connection, user));
  ASSAY_ASSIGN_OR_RETURN(const auto name, postgres::quoted_name(*connection, user));
  return connection->in_transaction([&]() -> Status {
    return connection->run_script(fmt::format(
        "REVOKE ALL ON ALL TABLES IN SCHEMA {0} FROM {1}; GRANT USAGE ON SCHEMA {0} TO {1}; "
        "GRANT {2} ON ALL TABLES IN SCHEMA {0} TO {1}; "
        "REVOKE INSERT, UPDATE ON {0}.schema_version FROM {1}; "
        "ALTER DEFAULT PRIVILEGES IN SCHEMA {0} REVOKE ALL ON TABLES FROM {1}; "
        "ALTER DEFAULT PRIVILEGES IN SCHEMA {0} GRANT {2} ON TABLES TO {1}",
        postgres::kSchema, name, postgres::rights_of(role)));
  });
}

}  // namespace assay
