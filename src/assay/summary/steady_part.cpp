#include "assay/summary/steady_part.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/record/launch.h"
#include "assay/record/summary.h"
#include "assay/stats/quantile.h"
#include "assay/stats/steady_state.h"
#include "assay/summary/sample_times.h"

namespace assay {
namespace {

constexpr std::size_t kMostGuessed = 10;

/// The rule of stats, but a difference of one clock step is no drift, however short the times are.
stats::SteadyRule rule_for(const std::vector<double>& values, std::int64_t clock_resolution_ns) {
  stats::SteadyRule rule;
  const double level = values.empty() ? 0 : stats::median(values);
  if (level > 0) {
    rule.tolerance_ratio =
        std::max(rule.tolerance_ratio, static_cast<double>(clock_resolution_ns) / level);
  }
  return rule;
}

}  // namespace

SteadyPart find_steady_part(const Measurement& measurement) {
  const auto& times = measurement.samples.execute_ns;
  if (measurement.duration_ns > 0) {
    constexpr double kTwoThirds = 2.0 / 3;
    return {.finding = WarmupFinding::kSustained,
            .first = first_sample_at(measurement, kTwoThirds)};
  }
  if (!measurement.detects_warmup) {
    const auto done = static_cast<std::size_t>(std::max(0, measurement.warmup_iterations));
    return {.finding = WarmupFinding::kGiven, .first = std::min(done, times.size())};
  }
  const std::vector<double> values(times.begin(), times.end());
  const auto state =
      stats::find_steady_state(values, rule_for(values, measurement.clock_resolution_ns));
  switch (state.verdict) {
    case stats::SteadyVerdict::kSteady:
      return {.finding = WarmupFinding::kFound, .first = state.first_iteration};
    case stats::SteadyVerdict::kUnsteady:
      return {.finding = WarmupFinding::kUnsteady, .first = times.size() / 2};
    case stats::SteadyVerdict::kTooFew:
      break;
  }
  return {.finding = WarmupFinding::kTooFew, .first = std::min(kMostGuessed, times.size() / 2)};
}

std::vector<double> steady_values(const SteadyPart& part, const std::vector<std::int64_t>& column) {
  const auto first = std::min(part.first, column.size());
  return {column.begin() + static_cast<std::ptrdiff_t>(first), column.end()};
}

double drift_ratio_of(const std::vector<double>& steady) {
  if (steady.size() < 2) {
    return 0;
  }
  const auto halves = std::span(steady);
  const auto middle = steady.size() / 2;
  const double level = stats::median(steady);
  return level > 0 ? std::abs(stats::median(halves.subspan(middle)) -
                              stats::median(halves.first(middle))) /
                         level
                   : 0;
}

}  // namespace assay
