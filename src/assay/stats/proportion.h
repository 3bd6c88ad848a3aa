#pragma once

#include <cstdint>
#include <span>

#include "assay/stats/order_statistics.h"

namespace assay::stats {

/// Exact interval of a probability from `successes` of `trials` independent trials: each end leaves
/// at most (1 - confidence) / 2 of the binomial on its far side. 0 of n begins at 0, n of n ends at
/// 1. Covers at least `confidence`, which is what `coverage` says. 0 <= successes <= trials, trials
/// >= 1, `confidence` in (0, 1). Source: Clopper, Pearson, Biometrika 26 (1934); as quantiles of
/// beta distributions.
Interval clopper_pearson(std::int64_t successes, std::int64_t trials, double confidence = 0.95);

/// A value that the q-quantile exceeds with probability 1 - confidence at most: the least order
/// statistic x(k) with P(Bin(n, q) < k) >= confidence; infinity when n values are too few for any
/// (p90 with 0.99 takes 44, p99 takes 459). What may be promised of a tail latency, whatever its
/// distribution. The values are independent, and n was not chosen by looking at them.
///
/// `sorted`: ascending, no NaN, may be empty. `q`, `confidence` in (0, 1). Pure; O(log n).
/// Source: David, Nagaraja, Order Statistics, 3rd ed. (2003), section 7.1. MLPerf's LoadGen
/// (loadgen/early_stopping.cc, at tolerance 0) counts the bound itself among the values over it and
/// so reports x(k + 1).
double percentile_bound(std::span<const double> sorted, double q, double confidence);

}  // namespace assay::stats
