#include "assay/summary/timing_verdict.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "assay/record/axes.h"
#include "assay/record/summary.h"
#include "assay/stats/order_statistics.h"
#include "assay/stats/quantile.h"
#include "assay/summary/disturbance.h"

namespace assay {
namespace {

constexpr int kFewestLaunches = 3;

Timing decide(const TimingEvidence& evidence) {
  if (evidence.drift_ratio > kMaxDriftRatio) {
    return Timing::kUnsteady;
  }
  const bool is_undecided = evidence.is_below_clock || evidence.launches < kFewestLaunches ||
                            evidence.interval_ratio > kMaxIntervalRatio;
  return is_undecided ? Timing::kInconclusive : Timing::kSteady;
}

std::string unsteady_sentence(const TimingEvidence& evidence, std::string_view remedy) {
  return fmt::format("{} of {} launches never became steady{}{}", evidence.unsteady,
                     evidence.launches, remedy.empty() ? "" : "; ", remedy);
}

/// The one sentence that says why a time is no answer.
std::string reason_of(const TimingEvidence& evidence, Timing timing, bool is_explained) {
  if (timing == Timing::kUnsteady) {
    return unsteady_sentence(evidence, is_explained
                                           ? note_of(evidence.disturbed)
                                           : "more iterations or a quieter machine may help");
  }
  if (evidence.is_below_clock) {
    return "all inferences took 0 s on the engine's clock, whose steps are too large";
  }
  if (evidence.launches < kFewestLaunches) {
    return fmt::format("{} launch{} cannot show how far launches differ; three or more can",
                       evidence.launches, evidence.launches == 1 ? "" : "es");
  }
  return fmt::format("{} launches leave their median open by {:.0f} % ({:.0f} % interval); {}",
                     evidence.launches, evidence.interval_ratio * 100, kVerdictConfidence * 100,
                     is_explained ? note_of(evidence.disturbed)
                                  : "more launches or a quieter machine would narrow that");
}

std::string outliers_sentence(const TimingEvidence& evidence) {
  return fmt::format(
      "{} of {} launches {} more than {:.0f} % from the median, the farthest {:+.0f} %",
      evidence.outliers, evidence.launches, evidence.outliers == 1 ? "lies" : "lie",
      kOutlierRatio * 100, evidence.farthest_ratio * 100);
}

}  // namespace

double open_ratio_of(std::span<const double> medians) {
  const double median = stats::median(medians);
  const auto interval = stats::interpolated_median_interval(medians, kVerdictConfidence);
  return median > 0 ? (interval.high - interval.low) / median : 0;
}

std::optional<double> uncertainty_ratio_of(const Estimate& steady, const TimingEvidence& evidence) {
  if (!steady.low || !steady.high || steady.value <= 0) {
    return std::nullopt;
  }
  const double farther = std::max(*steady.high - steady.value, steady.value - *steady.low);
  return std::max(farther / steady.value, evidence.drift_ratio);
}

TimingVerdict judge_timing(const TimingEvidence& evidence) {
  TimingVerdict verdict{.timing = decide(evidence)};
  auto& notes = verdict.notes;
  const auto& disturbed = evidence.disturbed;
  const bool is_bad =
      verdict.timing == Timing::kUnsteady ||
      (verdict.timing == Timing::kInconclusive && evidence.launches >= kFewestLaunches);
  const bool is_explained = is_bad && disturbed.disturbed > kMaxDisturbedShare * disturbed.launches;
  if (disturbed.disturbed > 0 && !is_explained) {
    notes.push_back(note_of(disturbed));
  }
  if (evidence.unsteady > 0 && verdict.timing != Timing::kUnsteady) {
    notes.push_back(unsteady_sentence(evidence, ""));
  }
  if (evidence.outliers > 0 && verdict.timing == Timing::kSteady) {
    notes.push_back(outliers_sentence(evidence));
  }
  if (evidence.too_few > 0) {
    notes.push_back(
        fmt::format("{} of {} launches had too few iterations to see when they became steady; "
                    "half of them count as warm-up",
                    evidence.too_few, evidence.launches));
  }
  if (verdict.timing != Timing::kSteady) {
    notes.push_back(reason_of(evidence, verdict.timing, is_explained));
  }
  return verdict;
}

}  // namespace assay
