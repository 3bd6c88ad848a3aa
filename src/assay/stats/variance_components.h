#pragma once

#include <span>

namespace assay::stats {

/// Where the spread of times comes from, as variances of log times: sqrt of one is about a relative
/// standard deviation.
struct VarianceComponents {
  double within = 0;   ///< T1^2: of one launch's iterations around that launch's level.
  double between = 0;  ///< T2^2: of the launches' levels; no number of iterations averages it out.
};

/// Unbiased estimates: within = pooled variance inside the launches; between = variance of the
/// launches' means less within / n, n the harmonic mean of the launches' sizes; 0 where that is
/// negative (which costs the unbiasedness).
///
/// `launches`: log times of the steady iterations of each; at least two launches, none empty, one
/// of them with two values or more; no NaN. Pure; O(values). Iterations that depend on each other
/// make within too small and between too large. Source: Kalibera, Jones, Rigorous Benchmarking in
/// Reasonable Time, ISMM 2013, section 6.2, with unequal sizes as in Searle, Casella, McCulloch,
/// Variance Components (1992), section 3.6.
VarianceComponents variance_components(std::span<const std::span<const double>> launches);

/// Iterations per launch that make the most precise mean for the time spent: ceil(sqrt(c2 / c1 *
/// T1^2 / T2^2)), between `least` and `most`; `most` when launches do not differ, `least` when
/// iterations do not. Whatever budget remains goes into launches.
///
/// `cost_launch`: start, load and warm-up; `cost_iteration`: one measured iteration; the same unit,
/// cost_iteration above 0. `within`, `between`: the variances above. 1 <= least <= most.
/// Source: the same, section 6.3.
int optimal_iterations(double cost_launch, double cost_iteration, double within, double between,
                       int least = 20, int most = 200);

}  // namespace assay::stats
