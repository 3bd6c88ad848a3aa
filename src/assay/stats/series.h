#pragma once

#include <span>

namespace assay::stats {

/// Slope per step of equally spaced values: the median of (y[j] - y[i]) / (j - i) over all i < j.
/// Shows throttling where one outlier must not. 0 for fewer than two values. Above 1000 values
/// every k-th is used, so that time and memory stay bounded. O(min(n, 1000)^2). Source: Sen,
/// Estimates of the Regression Coefficient Based on Kendall's Tau, JASA 63 (1968).
double theil_sen_slope(std::span<const double> values);

/// Autocorrelation at lag 1: sum (y[i] - m)(y[i+1] - m) / sum (y[i] - m)^2, in [-1, 1]. 0 for fewer
/// than three values or without spread. Above about 2 / sqrt(n) the iterations are not independent.
double lag1_autocorrelation(std::span<const double> values);

}  // namespace assay::stats
