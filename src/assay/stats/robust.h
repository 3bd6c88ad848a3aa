#pragma once

#include <span>

namespace assay::stats {

/// Estimates that a few wild values cannot move far: up to 29 % of them (asymptotically), against
/// 50 % for the median, with 95 % of the mean's efficiency on normal values, against the median's
/// 64
/// %. A robust standard deviation is robust_sigma (quantile.h), a robust slope theil_sen_slope
/// (series.h). All: no NaN; pure; O(n^2) time and memory, so for some hundreds of values.
/// Source: Hodges, Lehmann, Estimates of Location Based on Rank Tests, Ann. Math. Stat. 34 (1963).

/// Center: the median of the means of all pairs, each value with itself among them. At least one
/// value.
double hodges_lehmann(std::span<const double> values);

/// How far b lies above a: the median of b[j] - a[i] over all i, j. At least one value each; sizes
/// may differ. Turns its sign when a and b change places.
double hodges_lehmann_shift(std::span<const double> a, std::span<const double> b);

}  // namespace assay::stats
