#pragma once

#include <cstddef>
#include <span>

namespace assay::stats {

/// Growth of a series from step to step.
struct Trend {
  double slope = 0;       ///< Theil-Sen: the median of all (y[j] - y[i]) / (j - i).
  double low = 0;         ///< -infinity where there are too few values to bound it.
  double high = 0;        ///< infinity likewise.
  double confidence = 0;  ///< Actual coverage of the interval, at least the requested one.
  std::size_t count = 0;  ///< Values used.
};

/// Slope of equally spaced values with the interval of the slopes at which Kendall's exact test of
/// "no trend left" does not reject. Values may repeat: that only raises the coverage. Errors may
/// have any distribution, but are taken as exchangeable: a wandering level makes the interval too
/// narrow.
///
/// `values`: any unit, at least two, no NaN. `confidence` in (0, 1). Five values bound a slope at
/// 95 %, four do not. Above 400 values every k-th is used. Pure; O(n^3) time, O(n^2) memory in that
/// number. Source: Sen, Estimates of the Regression Coefficient Based on Kendall's Tau, JASA 63
/// (1968); the exact distribution of Kendall's statistic as in Kendall, Rank Correlation Methods
/// (1948), section 5. scipy.stats.theilslopes uses the normal distribution instead.
Trend theil_sen_trend(std::span<const double> values, double confidence = 0.95);

}  // namespace assay::stats
