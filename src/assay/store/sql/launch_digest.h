#pragma once

#include <string>

#include "assay/base/result.h"
#include "assay/store/sql/connection.h"

namespace assay::sql {

/// Digest of all that is stored of a launch: its row, sample blocks, operator events and traces.
/// Columns that are NULL do not count, so that a column which a later schema adds changes nothing.
Result<std::string> digest_from_rows_of_launch(Connection& connection, const std::string& launch);

/// Seals the launch with its digest, once all its rows are there.
Status seal_launch(Connection& connection, const std::string& launch);

/// Holds the rows against their digest. Errors: kCorrupt, naming the launch; kNotFound.
Status check_seal(Connection& connection, const std::string& launch);

}  // namespace assay::sql
