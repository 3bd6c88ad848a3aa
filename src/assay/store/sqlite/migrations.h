#pragma once

#include <cstdint>

#include "assay/store/sqlite/connection.h"

namespace assay::sqlite {

/// Marks a file as a store of Assay: "ASAY" in the database header.
inline constexpr std::int64_t kApplicationId = 0x41534159;

/// The schema that this version of Assay writes; PRAGMA user_version of the file.
std::int64_t schema_version();

/// Schema of an open database: 0 for an empty one.
/// Errors: kCorrupt when another program made it, kUnsupported when a newer Assay did.
Result<std::int64_t> schema_of(Connection& connection);

/// Brings the schema up to date in one transaction, so that two processes may open one new file.
/// `target`: of an older Assay only where a test needs a store of that age.
/// Errors: as schema_of, kUnavailable, kExhausted.
Status migrate(Connection& connection, std::int64_t target = schema_version());

}  // namespace assay::sqlite
