#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "assay/base/result.h"

/// Checks of single fields of an answer. Every failure is kCorrupt and names the field,
/// what the runner claims and what is possible.
namespace assay::wire {

/// Bytes of a name or a text in an answer, and entries of a list in it.
inline constexpr std::size_t kMostTextBytes = std::size_t{64} << 10;
inline constexpr std::size_t kMostEntries = 1'000'000;

Status expect_between(std::string_view field, std::int64_t claimed, std::int64_t least,
                      std::int64_t most);
Status expect_not_negative(std::string_view field, std::int64_t claimed);
Status expect_equal(std::string_view field, std::int64_t claimed, std::int64_t asked);
Status expect_text(std::string_view field, const std::string& text);
Status expect_count(std::string_view field, std::size_t entries);

/// One of a list of one kind: "stages[3].ns".
std::string field_in_list(std::string_view list, std::size_t index, std::string_view field);

}  // namespace assay::wire
