#include "assay/stats/order_statistics.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <span>

#include "assay/base/result.h"
#include "assay/stats/quantile.h"

namespace assay::stats {
namespace {

/// P(Bin(n, q) <= k), for k from -1.
double cumulative(std::ptrdiff_t n, double q, std::ptrdiff_t k) {
  if (k < 0) {
    return 0;
  }
  const boost::math::binomial_distribution<double> binomial(static_cast<double>(n), q);
  return boost::math::cdf(binomial, static_cast<double>(std::min(k, n)));
}

/// Coverage of the median by [x(k), x(n+1-k)].
double median_coverage(std::ptrdiff_t n, std::ptrdiff_t k) {
  return std::max(0.0, 1 - 2 * cumulative(n, 0.5, k - 1));
}

/// How much of the way from one end to the next inner one, `k` being the outer rank.
double inner_weight(std::ptrdiff_t n, std::ptrdiff_t k, double confidence) {
  const double outer = median_coverage(n, k);
  const double share = (outer - confidence) / (outer - median_coverage(n, k + 1));
  return static_cast<double>(n - k) * share /
         (static_cast<double>(k) + static_cast<double>(n - 2 * k) * share);
}

}  // namespace

Interval quantile_interval(std::span<const double> values, double q, double confidence) {
  ASSAY_CHECK(!values.empty() && q > 0 && q < 1 && confidence > 0 && confidence < 1);
  const auto sorted = sorted_copy(values);
  const auto n = std::ssize(sorted);
  const double tail = (1 - confidence) / 2;
  // Ranks from 1. The quantile lies below x(low) when fewer than `low` values lie below it, above
  // x(high) when `high` or more do.
  std::ptrdiff_t low = 1;
  while (low < n && cumulative(n, q, low) <= tail) {
    ++low;
  }
  std::ptrdiff_t high = n;
  while (high > low && 1 - cumulative(n, q, high - 2) <= tail) {
    --high;
  }
  return {.low = sorted[static_cast<std::size_t>(low - 1)],
          .high = sorted[static_cast<std::size_t>(high - 1)],
          .coverage = std::max(0.0, cumulative(n, q, high - 1) - cumulative(n, q, low - 1))};
}

Interval median_interval(std::span<const double> values, double confidence) {
  return quantile_interval(values, 0.5, confidence);
}

Interval interpolated_median_interval(std::span<const double> values, double confidence) {
  ASSAY_CHECK(!values.empty() && confidence >= 0.5 && confidence < 1);
  const auto sorted = sorted_copy(values);
  const auto n = std::ssize(sorted);
  if (const double most = median_coverage(n, 1); most <= confidence) {
    return {.low = sorted.front(), .high = sorted.back(), .coverage = most};
  }
  std::ptrdiff_t k = 1;
  while (median_coverage(n, k + 1) >= confidence) {
    ++k;
  }
  const double weight = inner_weight(n, k, confidence);
  const auto rank = [&](std::ptrdiff_t i) { return sorted[static_cast<std::size_t>(i - 1)]; };
  return {.low = std::lerp(rank(k), rank(k + 1), weight),
          .high = std::lerp(rank(n + 1 - k), rank(n - k), weight),
          .coverage = confidence};
}

}  // namespace assay::stats
