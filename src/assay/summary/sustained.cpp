#include "assay/summary/sustained.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/record/launch.h"
#include "assay/record/metric.h"
#include "assay/stats/quantile.h"
#include "assay/stats/trend.h"
#include "assay/summary/sample_times.h"
#include "assay/summary/timing.h"

namespace assay {
namespace {

constexpr double kThird = 1.0 / 3;
constexpr std::size_t kBlocks = 30;
constexpr double kNsPerMinute = 6e10;
constexpr double kPercent = 100;

/// A rate a minute of a shorter launch would say more than was seen: its last third is the only
/// part that the slope is taken from.
constexpr std::int64_t kShortestForSlopeNs = 60'000'000'000;

/// A series that went on for a given time, with when each of its samples ended.
struct TimedSeries {
  explicit TimedSeries(const Measurement& of) : measurement(of), ends(end_times_of(of)) {}
  const Measurement& measurement;
  std::vector<double> ends;
};

/// Execute times from one share of the series' time to another.
std::vector<double> executes_between(const TimedSeries& series, double from, double to) {
  const auto& executes = series.measurement.samples.execute_ns;
  const auto begin = first_sample_at(series.measurement, series.ends, from);
  const auto end = to >= 1 ? executes.size() : first_sample_at(series.measurement, series.ends, to);
  return {executes.begin() + static_cast<std::ptrdiff_t>(std::min(begin, end)),
          executes.begin() + static_cast<std::ptrdiff_t>(end)};
}

/// Medians of blocks that last equally long; a block without a sample ends the row.
std::vector<double> block_medians(const TimedSeries& series, double from, std::size_t blocks) {
  std::vector<double> medians;
  const double width = (1 - from) / static_cast<double>(blocks);
  for (std::size_t i = 0; i < blocks; ++i) {
    const double begin = from + width * static_cast<double>(i);
    const auto values = executes_between(series, begin, i + 1 == blocks ? 1 : begin + width);
    if (values.empty()) {
      break;
    }
    medians.push_back(stats::median(values));
  }
  return medians;
}

/// Percent of the level a minute, with the interval of the trend; nullopt for a launch of less than
/// a minute, and for fewer than five blocks, which bound no slope.
std::optional<Estimate> slope_of(const TimedSeries& series) {
  constexpr std::size_t kFewest = 5;
  if (series.measurement.wall_ns < kShortestForSlopeNs) {
    return std::nullopt;
  }
  const auto samples = executes_between(series, 2 * kThird, 1).size();
  const auto blocks = std::min(kBlocks, samples / 2);
  const auto medians =
      blocks < kFewest ? std::vector<double>() : block_medians(series, 2 * kThird, blocks);
  if (medians.size() < kFewest || stats::median(medians) <= 0) {
    return std::nullopt;
  }
  const auto trend = stats::theil_sen_trend(medians);
  const double block_ns =
      static_cast<double>(series.measurement.wall_ns) * kThird / static_cast<double>(blocks);
  const double scale = kPercent * kNsPerMinute / (block_ns * stats::median(medians));
  Estimate slope{.value = trend.slope * scale, .count = 1};
  if (std::isfinite(trend.low) && std::isfinite(trend.high)) {
    slope.low = trend.low * scale;
    slope.high = trend.high * scale;
    slope.confidence = trend.confidence;
  }
  return slope;
}

}  // namespace

std::map<std::string, Estimate> summarize_sustained(
    const std::vector<const Measurement*>& launches) {
  std::vector<double> levels;
  std::vector<double> ratios;
  std::vector<Estimate> slopes;
  for (const auto* measurement : launches) {
    if (measurement->duration_ns == 0) {
      continue;
    }
    const TimedSeries series(*measurement);
    const auto last = stats::median(executes_between(series, 2 * kThird, 1));
    levels.push_back(last);
    const auto first = executes_between(series, 0, kThird);
    if (!first.empty() && stats::median(first) > 0) {
      ratios.push_back(last / stats::median(first));
    }
    if (const auto slope = slope_of(series)) {
      slopes.push_back(*slope);
    }
  }
  std::map<std::string, Estimate> metrics;
  if (levels.empty()) {
    return metrics;
  }
  metrics["sustained_ns"] = estimate_over_launches(levels);
  if (!ratios.empty()) {
    metrics["sustained_ratio"] = estimate_over_launches(ratios);
  }
  if (!slopes.empty()) {
    std::vector<double> values(slopes.size());
    std::ranges::transform(slopes, values.begin(), &Estimate::value);
    metrics["sustained_slope_percent_per_min"] =
        slopes.size() == 1 ? slopes.front() : estimate_over_launches(values);
  }
  return metrics;
}

}  // namespace assay
