#include "assay/base/suggest.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const auto substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row.back();
}

}  // namespace

std::string suggestion_for(std::string_view name, std::span<const std::string> known) {
  const auto distance_to = [name](const std::string& other) { return edit_distance(name, other); };
  const auto nearest = std::ranges::min_element(known, {}, distance_to);
  if (nearest == known.end()) {
    return "; none is known";
  }
  if (distance_to(*nearest) * 3 <= std::max(name.size(), nearest->size())) {
    return fmt::format("; did you mean '{}'?", *nearest);
  }
  constexpr std::size_t kMost = 20;
  const auto shown = known.first(std::min(known.size(), kMost));
  return fmt::format("; known: {}{}", fmt::join(shown, ", "), known.size() > kMost ? ", …" : "");
}

}  // namespace assay
