#include "assay/stats/trend.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/stats/quantile.h"

namespace assay::stats {
namespace {

/// P(a random order of n different values has i inversions), for each i: adding the k-th value to
/// the others makes 0 to k - 1 more, all alike likely.
std::vector<double> inversion_probabilities(std::size_t n) {
  std::vector<double> probabilities = {1};
  for (std::size_t k = 2; k <= n; ++k) {
    std::vector<double> next(probabilities.size() + k - 1);
    double window = 0;
    for (std::size_t i = 0; i < next.size(); ++i) {
      window += i < probabilities.size() ? probabilities[i] : 0;
      window -= i >= k ? probabilities[i - k] : 0;
      next[i] = window / static_cast<double>(k);
    }
    probabilities = std::move(next);
  }
  return probabilities;
}

/// The rank from either end, from 1, that bounds the interval, and what lies within; rank 0: none.
struct Rank {
  std::size_t rank = 0;
  double coverage = 1;
};

Rank bounding_rank(std::size_t n, double confidence) {
  const auto probabilities = inversion_probabilities(n);
  Rank best;
  double tail = 0;
  for (std::size_t rank = 1; rank <= probabilities.size() / 2; ++rank) {
    tail += probabilities[rank - 1];
    if (1 - 2 * tail < confidence) {
      break;
    }
    best = {.rank = rank, .coverage = 1 - 2 * tail};
  }
  return best;
}

}  // namespace

Trend theil_sen_trend(std::span<const double> values, double confidence) {
  ASSAY_CHECK(values.size() >= 2 && confidence > 0 && confidence < 1);
  constexpr std::size_t kMostValues = 400;
  const auto stride = (values.size() + kMostValues - 1) / kMostValues;
  std::vector<double> slopes;
  std::size_t count = 0;
  for (std::size_t i = 0; i < values.size(); i += stride, ++count) {
    for (std::size_t j = i + stride; j < values.size(); j += stride) {
      slopes.push_back((values[j] - values[i]) / static_cast<double>(j - i));
    }
  }
  std::ranges::sort(slopes);
  const auto [rank, coverage] = bounding_rank(count, confidence);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return {.slope = median(slopes),
          .low = rank == 0 ? -kInfinity : slopes[rank - 1],
          .high = rank == 0 ? kInfinity : slopes[slopes.size() - rank],
          .confidence = coverage,
          .count = count};
}

}  // namespace assay::stats
