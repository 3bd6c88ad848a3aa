#pragma once

#include <cstdint>
#include <span>

#include "assay/record/launch.h"

namespace assay {

/// How many launches a timed case gets: `least`, then as many as its interval needs.
struct LaunchPlan {
  int least = 3;
  int most = 3;
  double interval_ratio = 0;   ///< Half the interval's width over the median; 0: `least` it is.
  std::int64_t budget_ns = 0;  ///< Time limit of all launches of a case; 0: none.
  /// After three launches of a case, further ones take as many iterations as their spread asks for.
  bool adapts_iterations = false;
};

/// The time that a launch came down to, for deciding on further ones only: the median of execute
/// over the second half of its iterations, which is steady where anything is. What a report shows
/// comes from assay/summary.
double level_of(const Measurement& measurement);

/// Half the width of the median's interval (at least 95 % where so many launches allow it) over
/// the median; NaN where no launch told a time. At least one level.
double interval_ratio_of(std::span<const double> levels);

/// True if no further launch is wanted. The interval is looked at after `least` launches, and then
/// each time there are half as many more: a rule that looks at every launch would stop at the first
/// narrow interval by chance. It looks at the width and never at the place of the interval.
/// `levels`: one a launch. `spent_ns`: wall time of the case's launches so far.
bool has_enough_launches(const LaunchPlan& plan, std::span<const double> levels,
                         std::int64_t spent_ns);

}  // namespace assay
