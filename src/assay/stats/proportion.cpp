#include "assay/stats/proportion.h"

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/binomial.hpp>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <ranges>
#include <span>

#include "assay/base/result.h"
#include "assay/stats/order_statistics.h"

namespace assay::stats {
namespace {

double beta_quantile(std::int64_t a, std::int64_t b, double probability) {
  const boost::math::beta_distribution<double> beta(static_cast<double>(a), static_cast<double>(b));
  return boost::math::quantile(beta, probability);
}

}  // namespace

Interval clopper_pearson(std::int64_t successes, std::int64_t trials, double confidence) {
  ASSAY_CHECK(trials >= 1 && successes >= 0 && successes <= trials);
  ASSAY_CHECK(confidence > 0 && confidence < 1);
  const auto failures = trials - successes;
  const double tail = (1 - confidence) / 2;
  return {.low = successes == 0 ? 0 : beta_quantile(successes, failures + 1, tail),
          .high = failures == 0 ? 1 : beta_quantile(successes + 1, failures, 1 - tail),
          .coverage = confidence};
}

double percentile_bound(std::span<const double> sorted, double q, double confidence) {
  ASSAY_CHECK(q > 0 && q < 1 && confidence > 0 && confidence < 1);
  const auto n = std::ssize(sorted);
  const boost::math::binomial_distribution<double> below(static_cast<double>(n), q);
  // The index counts the values that may lie below the quantile.
  const auto indices = std::views::iota(std::ptrdiff_t{0}, n);
  const auto found = std::ranges::partition_point(indices, [&](std::ptrdiff_t index) {
    return boost::math::cdf(below, static_cast<double>(index)) < confidence;
  });
  return found == indices.end() ? std::numeric_limits<double>::infinity()
                                : sorted[static_cast<std::size_t>(*found)];
}

}  // namespace assay::stats
