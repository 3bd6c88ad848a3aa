#include "assay/stats/multiplicity.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "assay/base/result.h"
#include "assay/stats/quantile.h"

namespace assay::stats {
namespace {

/// True for the `count` smallest of `p` and what equals them.
std::vector<bool> smallest(std::span<const double> p, std::span<const double> sorted,
                           std::size_t count) {
  std::vector<bool> is_rejected(p.size());
  for (std::size_t i = 0; i < p.size() && count > 0; ++i) {
    is_rejected[i] = p[i] <= sorted[count - 1];
  }
  return is_rejected;
}

bool are_probabilities(std::span<const double> p) {
  return std::ranges::all_of(p, [](double value) { return value >= 0 && value <= 1; });
}

}  // namespace

std::vector<bool> benjamini_hochberg(std::span<const double> p, double q) {
  ASSAY_CHECK(q > 0 && q < 1 && are_probabilities(p));
  const auto sorted = sorted_copy(p);
  const auto n = static_cast<double>(p.size());
  auto count = p.size();
  while (count > 0 && sorted[count - 1] * n > q * static_cast<double>(count)) {
    --count;
  }
  return smallest(p, sorted, count);
}

std::vector<bool> holm(std::span<const double> p, double alpha) {
  ASSAY_CHECK(alpha > 0 && alpha < 1 && are_probabilities(p));
  const auto sorted = sorted_copy(p);
  std::size_t count = 0;
  while (count < p.size() && sorted[count] * static_cast<double>(p.size() - count) <= alpha) {
    ++count;
  }
  return smallest(p, sorted, count);
}

}  // namespace assay::stats
