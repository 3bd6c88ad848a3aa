#pragma once

#include <span>

namespace assay::stats {

/// An interval with the confidence that it truly has, which for few values is below what was asked.
struct Interval {
  double low = 0;
  double high = 0;
  double coverage = 0;  ///< Probability that it holds the quantity, 0..1.
};

/// Distribution-free interval of the median: two order statistics [x(k), x(n+1-k)] with the largest
/// k whose coverage 1 - 2 P(Bin(n, 1/2) < k) reaches `confidence`; [min, max] when none does. Three
/// values give at most 0.75, five 0.9375, six 0.96875: whoever shows the interval shows its
/// coverage. Assumes independent values of one continuous distribution (ties only raise coverage).
///
/// `values`: at least one, any order, no NaN; a single value has coverage 0. `confidence` in (0,
/// 1). Source: David, Nagaraja, Order Statistics, 3rd ed. (2003), section 7.1.
Interval median_interval(std::span<const double> values, double confidence = 0.95);

/// Interval of any quantile: the narrowest ranks whose tails are each at most (1 - confidence) /
/// 2; where no order statistic lies far enough out, the extreme one with what coverage that leaves.
/// `q` in (0, 1).
Interval quantile_interval(std::span<const double> values, double q, double confidence = 0.95);

/// Interval of the median at one and the same confidence for every number of values: the two exact
/// ones around it, weighted between. Its width says how far the median is still open, and shrinks
/// with 1 / sqrt(n); the exact interval widens up to eight values, because what it covers rises.
/// Where even [min, max] covers less, it is that with its coverage. `confidence` in [0.5, 1).
/// Source: Hettmansperger, Sheather, Confidence Intervals Based on Interpolated Order Statistics,
/// Stat. Prob. Letters 4 (1986), equation 1.
Interval interpolated_median_interval(std::span<const double> values, double confidence);

}  // namespace assay::stats
