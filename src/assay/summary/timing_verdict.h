#pragma once

#include <string>
#include <vector>

#include "assay/record/axes.h"
#include "assay/summary/disturbance.h"

namespace assay {

/// Launch medians farther apart than this (largest less smallest, over their median) are no answer.
inline constexpr double kMaxLaunchSpread = 0.10;

/// A larger share of disturbed launches than this is named as the reason of a bad time.
inline constexpr double kMaxDisturbedShare = 0.20;

/// A larger share of launches that never became steady than this makes the case unsteady.
inline constexpr double kMaxUnsteadyShare = 0.25;

/// Evidence from the launches of a case on how far its time can be trusted.
struct TimingEvidence {
  int launches = 0;
  double spread_ratio = 0;      ///< Spread of the launch medians.
  bool is_below_clock = false;  ///< The inferences took no time by a clock that moves in steps.
  int unsteady = 0;             ///< Launches that never became steady.
  int too_few = 0;              ///< Launches with too few iterations to tell.
  DisturbedLaunches disturbed;
};

struct TimingVerdict {
  Timing timing = Timing::kNotMeasured;
  std::vector<std::string> notes;  ///< Explanation for the reader.
};

/// Unsteady before inconclusive before steady; disturbances never change the verdict, they are
/// named as its reason. Pure. Source: docs/reference/metrics.md, Times.
TimingVerdict judge_timing(const TimingEvidence& evidence);

}  // namespace assay
