#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "assay/base/enum_names.h"
#include "assay/base/result.h"

namespace assay {

/// Rights of a user of a database server in a store. Its owner, who made it, has all rights.
enum class StoreRole : std::uint8_t {
  kReader,  ///< Reads.
  kWorker,  ///< Reads, adds and finishes records, and merges; removes nothing.
};

template <>
inline constexpr auto kEnumNames<StoreRole> = std::to_array<EnumName<StoreRole>>(
    {{StoreRole::kReader, "reader"}, {StoreRole::kWorker, "worker"}});

/// Gives a user of the database server a role in the store of a database, for tables of later
/// schemas, too. Errors: those of open_postgres_store(), kNotFound (no such user), kUnavailable
/// (the caller is not the owner).
Status grant_role(const std::string& url, StoreRole role, const std::string& user);

}  // namespace assay
