#pragma once

#include <cstdint>

#include "assay/base/result.h"
#include "assay/store/postgres/connection.h"

namespace assay::postgres {

/// The schema that this version of Assay writes: numbered as that of SQLite files.
std::int64_t schema_version();

/// Schema of the database; 0 where it holds no store.
Result<std::int64_t> schema_of(Connection& connection);

/// Makes the tables or brings them up to date; two processes may do so at once.
/// Errors: kUnsupported (made by a newer Assay), kUnavailable (no right to make tables).
Status migrate(Connection& connection);
/// To an earlier schema, for tests.
Status migrate(Connection& connection, std::int64_t target);

/// For those who only read. Errors: kNotFound (no store there), kUnsupported (made by a newer
/// Assay, or not yet brought up to date).
Status check_schema(Connection& connection);

}  // namespace assay::postgres
