#include "assay/stats/ranks.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace assay::stats {

std::vector<std::int64_t> doubled_midranks(std::span<const double> values) {
  std::vector<std::pair<double, std::size_t>> sorted;
  sorted.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    sorted.emplace_back(values[i], i);
  }
  std::ranges::sort(sorted);
  std::vector<std::int64_t> ranks(values.size());
  for (std::size_t first = 0; first < sorted.size();) {
    std::size_t last = first;
    while (last + 1 < sorted.size() && sorted[last + 1].first == sorted[first].first) {
      ++last;
    }
    for (std::size_t i = first; i <= last; ++i) {
      ranks[sorted[i].second] = static_cast<std::int64_t>(first + last) + 2;
    }
    first = last + 1;
  }
  return ranks;
}

}  // namespace assay::stats
