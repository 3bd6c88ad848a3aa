#pragma once

#include <span>
#include <vector>

namespace assay::stats {

/// All functions here take at least one value, any order, no NaN, and are pure. NaN has no rank: it
/// makes a quantile meaningless, so filter before.

/// Arithmetic mean.
double mean(std::span<const double> values);

/// Type 7: linear between order statistics, at (n - 1) * q from the first; what numpy.quantile and
/// R give by default. `q` in [0, 1]. O(n log n). Source: Hyndman, Fan, Sample Quantiles in
/// Statistical Packages, Am. Stat. 50 (1996), 361.
double quantile(std::span<const double> values, double q);

/// Quantile of values that are sorted already. O(1).
double quantile_of_sorted(std::span<const double> sorted, double q);

/// quantile(values, 0.5): the middle value, or the mean of the two in the middle.
double median(std::span<const double> values);

/// Median of |value - median|. Multiply by kMadToSigma for a robust standard deviation.
double median_absolute_deviation(std::span<const double> values);

/// 1 / Phi^-1(3/4): makes the MAD of normal values estimate their standard deviation.
inline constexpr double kMadToSigma = 1.4826022185056018;

/// kMadToSigma * median_absolute_deviation(values).
double robust_sigma(std::span<const double> values);

std::vector<double> sorted_copy(std::span<const double> values);

}  // namespace assay::stats
