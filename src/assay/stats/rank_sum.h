#pragma once

#include <span>

namespace assay::stats {

/// Whether two unpaired samples come from one distribution: P of a rank sum of `b` at least as far
/// from its mean as the one seen, two-sided, over all ways to divide the values (midranks where
/// values are equal, so ties are exact too). At least one value each, no NaN; pure;
/// O((n + m)^2 n m) time, so for some tens of values.
/// Source: Wilcoxon, Individual Comparisons by Ranking Methods, 1945; the exact distribution as in
/// Lehmann, Nonparametrics (1975), section 1.2.
double rank_sum_p_value(std::span<const double> a, std::span<const double> b);

/// How far b lies above a, with the interval that excludes the shifts at which the test above
/// rejects at `alpha`.
struct UnpairedShift {
  double estimate = 0;    ///< Hodges-Lehmann.
  double low = 0;         ///< -infinity where the samples are too small to bound it.
  double high = 0;        ///< infinity likewise.
  double confidence = 0;  ///< Actual coverage where no values are equal; 1 if unbounded.
};

/// Same preconditions; O(n m (n + log(n m))), so for some hundreds of values. Source: Moses, in
/// Walker and Lev, Statistical Inference (1953); as in Lehmann, section 2.5.
UnpairedShift unpaired_shift(std::span<const double> a, std::span<const double> b, double alpha);

}  // namespace assay::stats
