#include "assay/base/suggest.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {
namespace {

/// Inserted, deleted, replaced and swapped neighboring characters.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before;
  std::vector<std::size_t> last;
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const auto replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
  }
  return row.back();
}

std::vector<std::string> without_repeats(std::span<const std::string> names) {
  std::vector<std::string> once;
  std::ranges::copy_if(names, std::back_inserter(once), [&once](const std::string& name) {
    return std::ranges::find(once, name) == once.end();
  });
  return once;
}

}  // namespace

std::string find_nearest_name(std::string_view name, std::span<const std::string> known) {
  const auto distance_to = [name](const std::string& other) { return edit_distance(name, other); };
  const auto nearest = std::ranges::min_element(known, {}, distance_to);
  if (nearest == known.end()) {
    return "";
  }
  if (distance_to(*nearest) * 3 <= std::max(name.size(), nearest->size())) {
    return *nearest;
  }
  constexpr std::size_t kShortestPart = 3;
  std::vector<std::string> wholes;
  if (name.size() >= kShortestPart) {
    std::ranges::copy_if(known, std::back_inserter(wholes), [name](const std::string& other) {
      return other.find(name) != std::string::npos;
    });
  }
  const auto shortest = std::ranges::min_element(wholes, {}, &std::string::size);
  return shortest == wholes.end() ? "" : *shortest;
}

std::string suggestion_for(std::string_view name, std::span<const std::string> known) {
  if (known.empty()) {
    return "; none is known";
  }
  if (const auto nearest = find_nearest_name(name, known); !nearest.empty()) {
    return fmt::format("; did you mean '{}'?", nearest);
  }
  constexpr std::size_t kMost = 20;
  const auto once = without_repeats(known);
  const auto shown = std::span(once).first(std::min(once.size(), kMost));
  return fmt::format("; known: {}{}", fmt::join(shown, ", "), once.size() > kMost ? ", …" : "");
}

}  // namespace assay
