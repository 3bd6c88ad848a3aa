#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/record/axes.h"
#include "assay/record/summary.h"
#include "assay/summary/disturbance.h"

namespace assay {

/// The interval whose width decides is the one that three launches reach.
inline constexpr double kVerdictConfidence = 0.75;

/// A median over launches whose interval is wider than this, over the median, is no answer.
inline constexpr double kMaxIntervalRatio = 0.10;

/// A launch farther than this from the median over launches is reported as an outlier.
inline constexpr double kOutlierRatio = 0.10;

/// A larger share of disturbed launches than this is named as the reason of a bad time.
inline constexpr double kMaxDisturbedShare = 0.20;

/// A case whose launches still move by more than this when they end is unsteady.
inline constexpr double kMaxDriftRatio = 0.05;

/// Evidence from the launches of a case on how far its time can be trusted.
struct TimingEvidence {
  int launches = 0;
  double interval_ratio = 0;    ///< Width of the median's interval, over the median.
  int outliers = 0;             ///< Launches far from the median.
  double farthest_ratio = 0;    ///< Distance of the farthest launch from it, with sign.
  bool is_below_clock = false;  ///< The inferences took no time by a clock that moves in steps.
  int unsteady = 0;             ///< Launches that never became steady.
  double drift_ratio = 0;       ///< Median of drift_ratio_of() those, of 0 for the others.
  int too_few = 0;              ///< Launches with too few iterations to tell.
  DisturbedLaunches disturbed;
};

struct TimingVerdict {
  Timing timing = Timing::kNotMeasured;
  std::vector<std::string> notes;  ///< Explanation for the reader.
};

/// How far launches leave their median open: the width of its interval at kVerdictConfidence, over
/// the median; 0 where that is 0. `medians`: one a launch, at least one.
double open_ratio_of(std::span<const double> medians);

/// How far the time may be off, over the time: to the farther end of its interval, and at least by
/// how far launches still move. None without an interval.
std::optional<double> uncertainty_ratio_of(const Estimate& steady, const TimingEvidence& evidence);

/// Unsteady before inconclusive before steady; disturbances never change the verdict, they are
/// named as its reason. Pure. Source: docs/reference/metrics.md, Times.
TimingVerdict judge_timing(const TimingEvidence& evidence);

}  // namespace assay
