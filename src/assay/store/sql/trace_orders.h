#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/store/sql/connection.h"

namespace assay::sql {

/// Orders in which earlier versions may have digested the traces of a launch: until schema 10 a
/// PostgreSQL database gave them in the order of its collation, and the digest went with the launch
/// into other stores. The order of the database itself is exact; for other databases there are the
/// rules that the languages of ICU and glibc have in common, and for a few channels every order.
/// `channels`: all of the launch. Empty for one channel.
/// The first kLikelyTraceOrders are those of the database and of languages.
inline constexpr std::size_t kLikelyTraceOrders = 3;
Result<std::vector<std::vector<std::string>>> other_trace_orders(Connection& connection,
                                                                 const std::string& launch,
                                                                 std::vector<std::string> channels);

/// The order of two texts in a dictionary: letters of either case alike and behind digits, of two
/// that differ in nothing else the lower case first. Punctuation stands before digits, or counts
/// for nothing.
enum class Punctuation : bool { kCounts, kIgnored };
bool comes_before_in_dictionary(std::string_view a, std::string_view b, Punctuation punctuation);

}  // namespace assay::sql
