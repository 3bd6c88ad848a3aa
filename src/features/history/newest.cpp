#include "features/history/newest.h"

#include "features/history/analysis.h"
#include "features/history/rule.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "assay/stats/order_statistics.h"
#include "assay/stats/quantile.h"
#include "assay/stats/rank_sum.h"

namespace assay::history {
namespace {

constexpr double kAllowance = 0.5;  // Standard deviations, as the limit: an alarm every 465 points
constexpr double kLimit = 5;        // without a change.
constexpr std::size_t kLeastBase = 5;

struct Base {
  double level = 0;
  double noise = 0;
  double allowed = 0;
};

Base base_of(std::span<const double> residuals, std::span<const double> before, double confidence) {
  std::vector<double> sizes(residuals.begin(), residuals.end());
  std::ranges::for_each(sizes, [](double& one) { one = std::abs(one); });
  const double noise = stats::kMadToSigma * stats::median(sizes);
  const auto n = static_cast<double>(before.size());
  const boost::math::students_t_distribution<double> student(
      static_cast<double>(std::max<std::size_t>(sizes.size() - 1, 1)));
  const double normal = boost::math::quantile(student, (1 + confidence) / 2) * noise *
                        std::sqrt(1 + 1.5707963 / n);  // The variance of a median is pi / 2 / n.
  return {.level = stats::median(before),
          .noise = noise,
          .allowed = std::max(normal, stats::quantile(sizes, confidence))};
}

/// Position at which the sum that crosses the limit last left zero.
std::optional<std::size_t> find_sum_alarm(const NewestLevel& level, const Base& base,
                                          std::size_t newest, double sign) {
  double sum = 0;
  std::size_t first = level.first;
  std::optional<std::size_t> alarm;
  for (std::size_t i = level.first; i < level.values.size(); ++i) {
    if (sum <= 0) {
      sum = 0;
      first = i;
    }
    const bool was_beyond = sum > kLimit;
    sum += sign * (level.values[i] - base.level) / base.noise - kAllowance;
    if (sum > kLimit && !was_beyond) {
      alarm = i >= newest ? std::optional(first) : std::nullopt;
    }
  }
  return sum > kLimit ? alarm : std::nullopt;
}

}  // namespace

std::optional<Nomination> nominate_newest(const NewestLevel& level, const HistoryRule& rule,
                                          double min_effect) {
  const std::size_t count = level.values.size() - level.first;
  if (count <= kLeastBase) {
    return std::nullopt;
  }
  const std::size_t newest =
      level.values.size() - std::min(rule.min_segment - 1, count - kLeastBase);
  const auto earlier =
      level.residuals.first(level.residuals.size() - (level.values.size() - newest));
  const auto base = base_of(earlier, level.values.subspan(level.first, newest - level.first),
                            rule.nomination_confidence);
  for (std::size_t i = newest; i < level.values.size(); ++i) {
    const double change = level.values[i] - base.level;
    if (std::abs(change) > base.allowed && std::abs(change) >= min_effect) {
      return Nomination{
          .point = i, .last_before = i - 1, .change = change, .allowed = base.allowed};
    }
  }
  for (const double sign : {1.0, -1.0}) {
    const auto first = base.noise > 0 ? find_sum_alarm(level, base, newest, sign) : std::nullopt;
    if (!first || *first == level.first) {
      continue;
    }
    const double change = stats::median(level.values.subspan(*first)) - base.level;
    if (std::abs(change) >= min_effect) {
      return Nomination{.point = *first,
                        .last_before = *first - 1,
                        .cause = NominationCause::kSum,
                        .change = change,
                        .allowed = base.allowed};
    }
  }
  return std::nullopt;
}

std::optional<Drift> find_drift(std::span<const double> values, std::span<const double> baseline,
                                double explained, double uncertainty, const HistoryRule& rule,
                                double min_effect) {
  if (values.size() < 2 * rule.drift_points) {
    return std::nullopt;
  }
  Drift drift{.first = values.size() - rule.drift_points};
  const auto newest = values.subspan(drift.first);
  if (baseline.empty()) {
    const auto interval = stats::median_interval(newest, rule.confidence);
    drift.change = stats::median(newest);
    drift.low = interval.low;
    drift.high = interval.high;
  } else {
    const auto shift = stats::unpaired_shift(baseline, newest, 1 - rule.confidence);
    drift.change = shift.estimate;
    drift.low = shift.low;
    drift.high = shift.high;
  }
  for (double* const one : {&drift.change, &drift.low, &drift.high}) {
    *one -= explained;
  }
  const bool is_change = drift.low > 0 || drift.high < 0;
  return is_change && std::abs(drift.change) >= min_effect + uncertainty ? std::optional(drift)
                                                                         : std::nullopt;
}

}  // namespace assay::history
