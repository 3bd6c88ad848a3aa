#include "assay/spec/pairwise.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

namespace assay {
namespace {

using PairSet = std::unordered_set<std::uint64_t>;

// Calls `visit` with a number for each pair of the cell's values; axes < 2^8, values < 2^24.
template <class Visit>
void for_each_pair(const Coordinates& cell, Visit visit) {
  for (std::size_t a = 0; a < cell.size(); ++a) {
    for (std::size_t b = a + 1; b < cell.size(); ++b) {
      const auto axes = (a << 8 | b) << 48;
      visit(axes | static_cast<std::uint64_t>(cell[a]) << 24 | static_cast<std::uint64_t>(cell[b]));
    }
  }
}

std::size_t count_new_pairs(const Coordinates& cell, const PairSet& missing) {
  std::size_t count = 0;
  for_each_pair(cell, [&](std::uint64_t pair) { count += missing.contains(pair) ? 1 : 0; });
  return count;
}

}  // namespace

std::vector<std::size_t> pick_pairwise(std::span<const Coordinates> cells) {
  PairSet missing;
  for (const auto& cell : cells) {
    for_each_pair(cell, [&](std::uint64_t pair) { missing.insert(pair); });
  }
  std::vector<std::size_t> picked;
  while (!missing.empty()) {
    std::size_t best = 0;
    std::size_t most = 0;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (const auto count = count_new_pairs(cells[i], missing); count > most) {
        best = i;
        most = count;
      }
    }
    picked.push_back(best);
    for_each_pair(cells[best], [&](std::uint64_t pair) { missing.erase(pair); });
  }
  std::ranges::sort(picked);
  return picked;
}

}  // namespace assay
