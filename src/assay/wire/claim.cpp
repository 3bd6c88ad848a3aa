#include "assay/wire/claim.h"

#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <limits>
#include <string>
#include <string_view>

#include "assay/base/result.h"

namespace assay::wire {

Status expect_between(std::string_view field, std::int64_t claimed, std::int64_t least,
                      std::int64_t most) {
  if (claimed >= least && claimed <= most) {
    return {};
  }
  return fail(
      ErrorCode::kCorrupt,
      most == std::numeric_limits<std::int64_t>::max()
          ? fmt::format("{} is {}; it cannot be below {}", field, claimed, least)
          : fmt::format("{} is {}; only {} to {} is possible", field, claimed, least, most));
}

Status expect_not_negative(std::string_view field, std::int64_t claimed) {
  return expect_between(field, claimed, 0, std::numeric_limits<std::int64_t>::max());
}

Status expect_equal(std::string_view field, std::int64_t claimed, std::int64_t asked) {
  return claimed == asked
             ? Status()
             : fail(ErrorCode::kCorrupt,
                    fmt::format("{} is {}, where {} was asked for", field, claimed, asked));
}

Status expect_text(std::string_view field, const std::string& text) {
  return text.size() <= kMostTextBytes
             ? Status()
             : fail(ErrorCode::kCorrupt, fmt::format("{} has {} bytes; at most {} are taken", field,
                                                     text.size(), kMostTextBytes));
}

Status expect_count(std::string_view field, std::size_t entries) {
  return entries <= kMostEntries
             ? Status()
             : fail(ErrorCode::kCorrupt, fmt::format("{} has {} entries; at most {} are taken",
                                                     field, entries, kMostEntries));
}

std::string field_in_list(std::string_view list, std::size_t index, std::string_view field) {
  return fmt::format("{}[{}].{}", list, index, field);
}

}  // namespace assay::wire
