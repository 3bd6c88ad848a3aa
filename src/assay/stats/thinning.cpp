#include "assay/stats/thinning.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace assay::stats {
namespace {

constexpr std::size_t kQuarters = 4;

/// Adds the indices of the five values of [begin, end) that divide its sorted values in quarters.
void add_quartiles(std::span<const double> values, std::size_t begin, std::size_t end,
                   std::vector<std::size_t>& chosen) {
  std::vector<std::size_t> order(end - begin);
  std::iota(order.begin(), order.end(), begin);
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(values[i], i); });
  for (std::size_t quarter = 0; quarter <= kQuarters; ++quarter) {
    chosen.push_back(order[(order.size() - 1) * quarter / kQuarters]);
  }
}

}  // namespace

std::vector<std::size_t> thinned(std::span<const double> values, std::size_t most) {
  const auto count = values.size();
  constexpr std::size_t kEnds = 2;
  constexpr std::size_t kOfBlock = kQuarters + 1;
  std::vector<std::size_t> chosen;
  if (count <= std::max(most, kEnds + kOfBlock)) {
    chosen.resize(count);
    std::iota(chosen.begin(), chosen.end(), std::size_t{0});
    return chosen;
  }
  const auto blocks = std::max<std::size_t>(1, (std::max(most, kEnds) - kEnds) / kOfBlock);
  chosen = {0, count - 1};
  for (std::size_t block = 0; block < blocks; ++block) {
    add_quartiles(values, block * count / blocks, (block + 1) * count / blocks, chosen);
  }
  std::ranges::sort(chosen);
  const auto repeated = std::ranges::unique(chosen);
  chosen.erase(repeated.begin(), repeated.end());
  return chosen;
}

}  // namespace assay::stats
