#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/store/sql/connection.h"

namespace assay::sql {

/// How the rows of a launch stand to the digest that they were sealed with.
enum class Seal : std::uint8_t {
  kNone,  ///< A launch of an older schema.
  kRight,
  kWrong,
};

/// Digest of all that is stored of a launch: its row, sample blocks, operator events and traces,
/// these in the order of the bytes of their channels, whatever the collation of a database.
/// Columns that are NULL do not count, so that a column which a later schema adds changes nothing.
Result<std::string> digest_from_rows_of_launch(Connection& connection, const std::string& launch);

/// The digest with the traces in another order. `channels`: all of the launch.
Result<std::string> digest_in_order(Connection& connection, const std::string& launch,
                                    const std::vector<std::string>& channels);

/// Seals the launch with its digest, once all its rows are there.
Status seal_launch(Connection& connection, const std::string& launch);

/// Holds the rows against their digest. One that was made where a database orders texts by a
/// language (schema 10 and before) is right, too. Errors: kNotFound.
Result<Seal> seal_of_launch(Connection& connection, const std::string& launch);

/// Errors: kCorrupt, naming the launch whose seal is wrong.
Status check_seal(Connection& connection, const std::string& launch);

}  // namespace assay::sql
