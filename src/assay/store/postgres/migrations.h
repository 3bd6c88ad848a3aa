#pragma once

#include <cstdint>

#include "assay/base/result.h"
#include "assay/store/postgres/connection.h"
#include "assay/store/sql/migrations.h"

namespace assay::postgres {

/// Schema of the database; 0 if it holds no store.
Result<std::int64_t> schema_of(Connection& connection);

/// Makes the tables or brings them up to date; two processes may do so at once. Errors:
/// kUnsupported (as sql::check_schema_is_known, or the database has not the encoding UTF8),
/// kUnavailable (no right to make tables).
Status migrate(Connection& connection, sql::Migrations migrations = sql::migrations());

/// For those who only read. Errors: kNotFound (no store there), kUnsupported (as
/// sql::check_schema_is_known, or not yet brought up to date).
Status check_schema(Connection& connection, sql::Migrations migrations = sql::migrations());

}  // namespace assay::postgres
