#include "features/history/step_scan.h"

#include "features/history/rule.h"
#include "features/history/spikes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

#include "assay/stats/quantile.h"
#include "assay/stats/rank_scan.h"
#include "assay/stats/robust.h"

namespace assay::history {
namespace {

/// Values on either side that the plausible splits are taken from: among more, splits far from the
/// change have nearly the largest statistic, too.
constexpr std::size_t kClosePoints = 25;

using Splits = std::vector<std::size_t>;

/// Binary segmentation of [first, end); `factor` raises the critical values.
void split_recursively(std::span<const double> values, std::size_t first, std::size_t end,
                       const HistoryRule& rule, double factor, Splits& splits) {
  const std::size_t length = end - first;
  if (length < 2 * rule.min_segment) {
    return;
  }
  const auto scan = stats::scan_ranks(values.subspan(first, length), rule.min_segment);
  if (scan.split == 0 ||
      scan.statistic <= factor * stats::rank_scan_critical_value(length, rule.alpha)) {
    return;
  }
  const std::size_t split = first + scan.split;
  split_recursively(values, first, split, rule, factor, splits);
  splits.push_back(split);
  split_recursively(values, split, end, rule, factor, splits);
}

/// Standard deviation of residuals by their median size, or where that is 0, as of counts and
/// coarse clocks, by their mean size.
double sigma_of(std::span<const double> residuals) {
  const double sigma = stats::robust_sigma(residuals);
  if (sigma > 0) {
    return sigma;
  }
  double sum = 0;
  for (const double one : residuals) {
    sum += std::abs(one);
  }
  return std::sqrt(std::numbers::pi / 2) * sum / static_cast<double>(residuals.size());
}

/// Lag-1 autocorrelation of the values less the medians of their parts. Residuals beyond three
/// standard deviations count as three, or single values would hide it.
double autocorrelation_around(std::span<const double> values, const Splits& splits) {
  std::vector<double> residuals;
  residuals.reserve(values.size());
  for (std::size_t part = 0; part <= splits.size(); ++part) {
    const std::size_t first = part == 0 ? 0 : splits[part - 1];
    const std::size_t end = part == splits.size() ? values.size() : splits[part];
    const auto of_part = values.subspan(first, end - first);
    const double level = stats::median(of_part);
    std::ranges::transform(of_part, std::back_inserter(residuals),
                           [level](double value) { return value - level; });
  }
  const double most = 3 * sigma_of(residuals);
  double products = 0;
  double squares = 0;
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    residuals[i] = std::clamp(residuals[i], -most, most);
    squares += residuals[i] * residuals[i];
    products += i > 0 ? residuals[i] * residuals[i - 1] : 0;
  }
  return squares > 0 ? products / squares : 0;
}

double factor_of(double autocorrelation) {
  return std::sqrt((1 + autocorrelation) / (1 - autocorrelation));
}

struct Window {
  Splits splits;
  double autocorrelation = 0;  ///< Value that the critical values allow for.
};

Window scan_window(std::span<const double> values, const HistoryRule& rule) {
  Window window;
  split_recursively(values, 0, values.size(), rule, 1, window.splits);
  if (window.splits.empty()) {
    return window;  // Higher critical values would find nothing either.
  }
  const double r = std::min(autocorrelation_around(values, window.splits), 0.9);
  if (r > rule.least_autocorrelation) {
    window.autocorrelation = r;
    window.splits.clear();
    split_recursively(values, 0, values.size(), rule, factor_of(r), window.splits);
  }
  return window;
}

std::vector<FoundStep> scan_all(std::span<const double> values, const HistoryRule& rule) {
  std::vector<FoundStep> steps;
  for (std::size_t start = 0; start < values.size();) {
    const std::size_t length = std::min(rule.window, values.size() - start);
    const auto window = scan_window(values.subspan(start, length), rule);
    for (const std::size_t split : window.splits) {
      const std::size_t first = start + split;
      steps.push_back({.first = first,
                       .plausible_first = first,
                       .plausible_last = first,
                       .autocorrelation = window.autocorrelation});
    }
    if (start + length == values.size()) {
      break;
    }
    start = window.splits.empty() ? start + rule.window / 2 : steps.back().first;
  }
  return steps;
}

/// The split in [first, last] that leaves the least sum of squares around the means of both parts.
/// Values are cut to three standard deviations of the noise around the levels, or single ones would
/// decide. Ranks place a step less well: they favor the middle of the series.
std::size_t best_split(const Surroundings& around, std::size_t first, std::size_t last) {
  const std::span<const double> values{around.before.data(),
                                       around.before.size() + around.after.size()};
  const auto [low, high] = std::minmax({stats::median(around.before), stats::median(around.after)});
  const double room = 3 * noise_of_differences(values);
  std::vector<double> sums = {0};
  for (const double value : values) {
    sums.push_back(sums.back() + std::clamp(value, low - room, high + room) - low);
  }
  std::size_t best = first;
  double most = -1;
  for (std::size_t split = first; split <= last; ++split) {
    // The sum of squares between the parts, less what does not depend on the split.
    const double before = sums[split];
    const double after = sums.back() - before;
    const double between = before * before / static_cast<double>(split) +
                           after * after / static_cast<double>(values.size() - split);
    if (between > most) {
      most = between;
      best = split;
    }
  }
  return best;
}

std::vector<double> statistics_of(const Surroundings& around, const HistoryRule& rule) {
  return stats::rank_statistics({around.before.data(), around.before.size() + around.after.size()},
                                rule.min_segment);
}

/// First and last split whose statistic is nearly the largest.
std::pair<std::size_t, std::size_t> plausible_splits(std::span<const double> statistics,
                                                     double share) {
  const double least = share * std::ranges::max(statistics);
  const auto is_plausible = [least](double one) { return one > 0 && one >= least; };
  const auto first = std::ranges::find_if(statistics, is_plausible);
  const auto last = std::find_if(statistics.rbegin(), statistics.rend(), is_plausible);
  return {static_cast<std::size_t>(first - statistics.begin()),
          static_cast<std::size_t>(statistics.rend() - last) - 1};
}

/// Puts a step where the values between its neighbors say, with the splits that are nearly as good
/// among the values close to it.
void place(std::span<const double> values, std::vector<FoundStep>& steps, std::size_t index,
           const HistoryRule& rule) {
  auto& step = steps[index];
  const auto around = surroundings_of(values, steps, index, rule.window / 2);
  const auto statistics = statistics_of(around, rule);
  step.statistic = std::ranges::max(statistics);
  step.critical_value = factor_of(step.autocorrelation) *
                        stats::rank_scan_critical_value(statistics.size(), rule.alpha);
  if (step.statistic <= 0) {
    return;
  }
  const auto [first, last] = plausible_splits(statistics, rule.plausible_share);
  step.first = step.first - around.before.size() + best_split(around, first, last);
  const auto close = surroundings_of(values, steps, index, kClosePoints);
  const auto [earliest, latest] =
      plausible_splits(statistics_of(close, rule), rule.plausible_share);
  const std::size_t origin = step.first - close.before.size();
  step.plausible_first = std::min(origin + earliest, step.first);
  step.plausible_last = std::max(origin + latest, step.first);
}

double shift_at(std::span<const double> values, const std::vector<FoundStep>& steps,
                std::size_t index) {
  const auto [before, after] = surroundings_of(values, steps, index, kShiftPoints);
  return std::abs(stats::hodges_lehmann_shift(before, after));
}

/// Takes out steps of less than `min_effect`, the least first.
void merge(std::span<const double> values, std::vector<FoundStep>& steps, double min_effect) {
  std::vector<double> shifts;
  shifts.reserve(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    shifts.push_back(shift_at(values, steps, i));
  }
  while (!steps.empty()) {
    const auto least = std::ranges::min_element(shifts);
    if (*least >= min_effect) {
      return;
    }
    const auto index = least - shifts.begin();
    steps.erase(steps.begin() + index);
    shifts.erase(least);
    for (const auto next : {index - 1, index}) {
      if (next >= 0 && next < std::ssize(steps)) {
        const auto at = static_cast<std::size_t>(next);
        shifts[at] = shift_at(values, steps, at);
      }
    }
  }
}

}  // namespace

Surroundings surroundings_of(std::span<const double> values, const std::vector<FoundStep>& steps,
                             std::size_t index, std::size_t most_each) {
  const std::size_t at = steps[index].first;
  const std::size_t previous = index == 0 ? 0 : steps[index - 1].first;
  const std::size_t next = index + 1 == steps.size() ? values.size() : steps[index + 1].first;
  const std::size_t before = std::min(at - previous, most_each);
  const std::size_t after = std::min(next - at, most_each);
  return {.before = values.subspan(at - before, before), .after = values.subspan(at, after)};
}

std::vector<FoundStep> find_steps(std::span<const double> values, const HistoryRule& rule,
                                  double min_effect) {
  auto steps = scan_all(values, rule);
  const auto place_all = [&] {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      place(values, steps, i, rule);
    }
  };
  place_all();
  merge(values, steps, min_effect);
  place_all();
  return steps;
}

}  // namespace assay::history
