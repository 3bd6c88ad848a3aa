#include "features/history/analysis.h"

#include "features/history/epochs.h"
#include "features/history/newest.h"
#include "features/history/rule.h"
#include "features/history/segment.h"
#include "features/history/series.h"
#include "features/history/spikes.h"
#include "features/history/step_scan.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "assay/stats/mean_changes.h"
#include "assay/stats/quantile.h"
#include "assay/stats/rank_scan.h"
#include "assay/stats/rank_sum.h"
#include "assay/stats/series.h"

namespace assay::history {
namespace {

/// Points by which a second opinion may place a step elsewhere.
constexpr std::size_t kFirmTolerance = 3;
constexpr std::size_t kMeanChangeMinSegment = 4;
constexpr std::int64_t kDayNs = std::int64_t{86'400} * 1'000'000'000;

/// The offsets of an epoch that are no spikes, and where they stand in the series.
struct Values {
  std::vector<double> offsets;
  std::vector<std::size_t> points;
};

Values values_of(const Series& series, const Epoch& epoch, const HistoryRule& rule, bool is_exact,
                 std::vector<std::size_t>& outliers) {
  std::vector<double> all;
  for (std::size_t i = epoch.first; i < epoch.end; ++i) {
    all.push_back(series.points[i].offset);
  }
  const auto spikes = is_exact ? std::vector<bool>(all.size(), false)
                               : find_spikes(all, rule.spike_sigmas, rule.window);
  Values values;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (spikes[i]) {
      outliers.push_back(epoch.first + i);
      continue;
    }
    values.offsets.push_back(all[i]);
    values.points.push_back(epoch.first + i);
  }
  return values;
}

std::vector<FoundStep> steps_of_exact(std::span<const double> values, double min_effect) {
  std::vector<FoundStep> steps;
  double level = values.front();
  std::size_t left = 1;  // First of the points that are off the level.
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i] == level) {
      left = i + 1;
    } else if (std::abs(values[i] - level) >= min_effect) {
      steps.push_back(
          {.first = i, .plausible_first = left, .plausible_last = i, .change = values[i] - level});
      level = values[i];
      left = i + 1;
    }
  }
  return steps;
}

bool is_found_by_means(const Surroundings& around, const FoundStep& step) {
  const std::span<const double> values{around.before.data(),
                                       around.before.size() + around.after.size()};
  const double noise = noise_of_differences(values);
  if (noise <= 0) {
    return true;
  }
  std::vector<double> scaled(values.begin(), values.end());
  std::ranges::for_each(scaled, [noise](double& value) { value /= noise; });
  const double penalty = 4 * std::log(static_cast<double>(scaled.size()));
  const std::size_t origin = step.first - around.before.size();
  const auto changes = stats::find_mean_changes(scaled, penalty, kMeanChangeMinSegment);
  return std::ranges::any_of(changes, [&](std::size_t change) {
    return origin + change + kFirmTolerance >= step.plausible_first &&
           origin + change <= step.plausible_last + kFirmTolerance;
  });
}

double sum_of_residuals(std::span<const double> values, double level, double slope) {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sum += std::abs(values[i] - level - slope * static_cast<double>(i));
  }
  return sum;
}

bool is_slope_better(const Surroundings& around) {
  const std::span<const double> values{around.before.data(),
                                       around.before.size() + around.after.size()};
  const double slope = stats::theil_sen_slope(values);
  std::vector<double> flat(values.begin(), values.end());
  for (std::size_t i = 0; i < flat.size(); ++i) {
    flat[i] -= slope * static_cast<double>(i);
  }
  const double of_step = sum_of_residuals(around.before, stats::median(around.before), 0) +
                         sum_of_residuals(around.after, stats::median(around.after), 0);
  return sum_of_residuals(values, stats::median(flat), slope) < of_step;
}

Step step_from(const FoundStep& found, const std::vector<FoundStep>& all, std::size_t index,
               const Values& values, const HistoryRule& rule, bool is_exact) {
  Step step{.point = values.points[found.first],
            .last_before = values.points[found.plausible_first - 1],
            .first_after = values.points[found.plausible_last]};
  const auto near = surroundings_of(values.offsets, all, index, kShiftPoints);
  if (is_exact) {
    step.shift = {
        .estimate = found.change, .low = found.change, .high = found.change, .confidence = 1};
    step.p_value = 0;
    step.is_firm = true;
    return step;
  }
  const auto around = surroundings_of(values.offsets, all, index, rule.window / 2);
  const std::size_t length = around.before.size() + around.after.size();
  step.shift = stats::unpaired_shift(near.before, near.after, 1 - rule.confidence);
  step.statistic = found.statistic;
  step.critical_value = found.critical_value;
  step.autocorrelation = found.autocorrelation;
  const double factor = found.critical_value / stats::rank_scan_critical_value(length, rule.alpha);
  step.p_value = stats::rank_scan_p_value(length, found.statistic / factor);
  step.is_firm = is_found_by_means(around, found);
  step.is_gradual = is_slope_better(near);
  return step;
}

/// The segments of an epoch, and the residuals of its values around their levels.
void add_segments(const Series& series, const Epoch& epoch, const Values& values,
                  const std::vector<FoundStep>& steps, SeriesAnalysis& analysis,
                  std::vector<double>& residuals) {
  for (std::size_t part = 0; part <= steps.size(); ++part) {
    const std::size_t first = part == 0 ? 0 : steps[part - 1].first;
    const std::size_t end = part == steps.size() ? values.offsets.size() : steps[part].first;
    const auto segment =
        segment_of(series, analysis.outliers, part == 0 ? epoch.first : values.points[first],
                   part == steps.size() ? epoch.end : values.points[end],
                   part == 0 ? epoch.cause : SegmentCause::kStep);
    analysis.segments.push_back(segment);
    for (std::size_t i = first; i < end; ++i) {
      residuals.push_back(values.offsets[i] - segment.level);
    }
  }
}

void add_nomination(const Values& values, std::size_t first_of_level,
                    std::span<const double> residuals, const HistoryRule& rule, double min_effect,
                    SeriesAnalysis& analysis) {
  analysis.nomination =
      nominate_newest({.values = values.offsets, .first = first_of_level, .residuals = residuals},
                      rule, min_effect);
  if (auto& nomination = analysis.nomination) {
    nomination->point = values.points[nomination->point];
    nomination->last_before = values.points[nomination->last_before];
  }
}

void add_drift(const Series& series, const Values& values, std::span<const Step> steps,
               const HistoryRule& rule, double min_effect, SeriesAnalysis& analysis) {
  double explained = 0;
  double squares = 0;
  for (const auto& step : steps) {
    if (!step.is_gradual) {
      explained += step.shift.estimate;
      const double half = (step.shift.high - step.shift.low) / 2;
      squares += std::isfinite(half) ? half * half : 0;
    }
  }
  const std::span<const double> offsets(values.offsets);
  const auto baseline = series.has_reference || offsets.size() < 2 * rule.drift_points
                            ? std::span<const double>()
                            : offsets.first(rule.drift_points);
  analysis.drift = find_drift(offsets, baseline, explained, std::sqrt(squares), rule, min_effect);
  if (analysis.drift) {
    analysis.drift->first = values.points[analysis.drift->first];
  }
}

std::optional<Silence> find_silence(const Point& last, const HistoryRule& rule, const Now& now) {
  const Silence silence{.commits = now.position - last.position,
                        .days = (now.unix_ns - last.unix_ns) / kDayNs};
  const bool is_silent =
      silence.commits >= rule.silent_commits ||
      (last.unix_ns > 0 && silence.commits > 0 && silence.days >= rule.silent_days);
  return is_silent ? std::optional(silence) : std::nullopt;
}

}  // namespace

double least_effect_of(const Series& series, const HistoryRule& rule) {
  if (series.min_effect > 0) {
    return series.min_effect;
  }
  if (series.is_ratio || series.points.empty()) {
    return rule.min_effect;
  }
  std::vector<double> sizes;
  std::ranges::transform(series.points, std::back_inserter(sizes),
                         [](const Point& point) { return std::abs(point.value); });
  // If most values are 0, any change matters.
  return std::max(rule.min_effect * stats::median(sizes), std::numeric_limits<double>::min());
}

Segment segment_of(const Series& series, const std::vector<std::size_t>& outliers,
                   std::size_t first, std::size_t end, SegmentCause cause) {
  std::vector<double> offsets;
  std::vector<double> values;
  for (std::size_t i = first; i < end; ++i) {
    if (!std::ranges::binary_search(outliers, i)) {
      offsets.push_back(series.points[i].offset);
      values.push_back(series.points[i].value);
    }
  }
  if (offsets.empty()) {  // Outliers alone: where two levels meet at one.
    return segment_of(series, {}, first, end, cause);
  }
  return {.first = first,
          .end = end,
          .cause = cause,
          .level = stats::median(offsets),
          .value = stats::median(values)};
}

SeriesAnalysis analyze_series(const Series& series, const HistoryRule& rule, const Now& now) {
  SeriesAnalysis analysis;
  const bool is_exact = series.is_exact();
  const double min_effect = least_effect_of(series, rule);
  const auto epochs = epochs_of(series);
  for (const auto& epoch : epochs) {
    const auto values = values_of(series, epoch, rule, is_exact, analysis.outliers);
    const auto found = is_exact ? steps_of_exact(values.offsets, min_effect)
                                : find_steps(values.offsets, rule, min_effect);
    const std::size_t earlier = analysis.steps.size();
    for (std::size_t i = 0; i < found.size(); ++i) {
      analysis.steps.push_back(step_from(found[i], found, i, values, rule, is_exact));
    }
    std::vector<double> residuals;
    add_segments(series, epoch, values, found, analysis, residuals);
    if (epoch.end != series.points.size()) {
      continue;
    }
    const std::size_t newest = std::min(residuals.size(), rule.window);
    const auto noise = std::span<const double>(residuals).last(newest);
    analysis.noise = stats::robust_sigma(noise);
    if (!is_exact) {
      add_nomination(values, found.empty() ? 0 : found.back().first, noise, rule, min_effect,
                     analysis);
    }
    add_drift(series, values, std::span<const Step>(analysis.steps).subspan(earlier), rule,
              min_effect, analysis);
  }
  if (!series.points.empty()) {
    analysis.silence = find_silence(series.points.back(), rule, now);
  }
  return analysis;
}

}  // namespace assay::history
