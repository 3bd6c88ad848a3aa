#pragma once

#include <cstdint>

#include "assay/base/result.h"
#include "assay/store/sql/migrations.h"
#include "assay/store/sqlite/connection.h"

namespace assay::sqlite {

/// Marks a file as a store of Assay: "ASAY" in the database header.
inline constexpr std::int64_t kApplicationId = 0x41534159;

/// Schema of an open database, PRAGMA user_version of the file: 0 for an empty one. Errors:
/// kCorrupt when another program made it, kUnsupported as sql::check_schema_is_known.
Result<std::int64_t> schema_of(Connection& connection,
                               sql::Migrations migrations = sql::migrations());

/// Makes the tables or brings them up to date in one transaction, so that two processes may open
/// one new file. Errors: as schema_of, kUnavailable, kExhausted.
Status migrate(Connection& connection, sql::Migrations migrations = sql::migrations());

}  // namespace assay::sqlite
