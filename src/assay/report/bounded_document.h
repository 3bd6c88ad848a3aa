#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "assay/base/json.h"
#include "assay/report/json_lines.h"

namespace assay::report {

/// Data of a page: with the scripts and the charts of one that stands alone less than 3 MB, which a
/// browser opens at once.
inline constexpr std::size_t kMostPageDataBytes = 1'900'000;

/// Something that a page can do without.
struct OptionalPart {
  std::string_view words;  ///< "the readings of sensors"
  void (*remove)(Json& item) = nullptr;
};

/// document_with_items() for a page: where it would be larger than kMostPageDataBytes, optional
/// parts go one after the other, of all items alike, and at last the items that matter least.
/// The head tells the reader what it lacks: `"page": {"items": N, "left_out": [WORDS]}`,
/// `items` being those of the whole document. `parts`: the one to go first first. `rank`: the place
/// of an item where not all fit; the smallest stay.
std::string bounded_document(OrderedJson head, std::string_view field, Json items,
                             std::span<const OptionalPart> parts,
                             const std::function<int(const Json&)>& rank);

}  // namespace assay::report
