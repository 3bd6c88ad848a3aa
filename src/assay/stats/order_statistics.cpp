#include "assay/stats/order_statistics.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
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

}  // namespace assay::stats
