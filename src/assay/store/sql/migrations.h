#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "assay/base/result.h"
#include "assay/store/sql/connection.h"

/// The schema of stores: one for all databases, with a number that counts its changes.
namespace assay::sql {

/// How a database writes what the scripts of migrations have in braces: "{integer}".
struct Dialect {
  std::string_view text;     ///< Compared by its bytes.
  std::string_view integer;  ///< Type of an integer of 64 bits.
  std::string_view real;
  std::string_view blob;
  std::string_view rowid;          ///< Ends a table whose rows keep their order.
  std::string_view without_rowid;  ///< Ends a table whose key is all its order.
};

/// Scripts in the order of their schemas: the first makes kFirstSchema in an empty store, each
/// other one makes the next schema from the one before.
using Migrations = std::span<const std::string_view>;

/// Those of this version of Assay.
Migrations migrations();

/// Development versions before 0.1 made schemas 1 to 11.
inline constexpr std::int64_t kFirstSchema = 12;

/// The schema that the last of the migrations makes.
std::int64_t newest_schema(Migrations all = migrations());

/// Refuses a schema that the migrations neither start from nor make; `found` is 0 for an empty
/// store. Errors: kUnsupported, with what to do about a store of a development version or of a
/// newer Assay.
Status check_schema_is_known(const Connection& connection, std::int64_t found, Migrations all);

/// Brings a store of schema `found` to the newest one. To be called in a transaction.
Status run_migrations(Connection& connection, const Dialect& dialect, std::int64_t found,
                      Migrations all);

}  // namespace assay::sql
