#include "assay/compare/pairs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fmt/format.h>
#include <functional>
#include <iterator>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/record/comparison.h"
#include "assay/record/launch.h"
#include "assay/record/metric.h"
#include "assay/record/summary.h"
#include "assay/stats/looks.h"
#include "assay/stats/multiplicity.h"
#include "assay/stats/pair_test.h"
#include "assay/stats/quantile.h"
#include "assay/summary/disturbance.h"
#include "assay/summary/reduction.h"
#include "assay/summary/steady_part.h"

namespace assay {
namespace {

constexpr double kShownAlpha = 0.05;
constexpr double kFalseDiscoveryRate = 0.05;
constexpr double kConfirmedAlpha = 0.01;
constexpr double kCanaryAlpha = 0.01;
constexpr double kHalfAlpha = 0.05;
constexpr int kReplacedOneIn = 5;

void put_shift(const stats::Shift& shift, PairEstimate& estimate) {
  estimate.ratio = std::expm1(shift.estimate);
  estimate.low = ratio_from_log(shift.low);
  estimate.high = ratio_from_log(shift.high);
  estimate.confidence = shift.confidence;
}

void put_medians(const Pairs::Sides& sides, PairEstimate& estimate) {
  estimate.pairs = static_cast<int>(sides.a.size());
  estimate.a_median = std::exp(stats::median(sides.a));
  estimate.b_median = std::exp(stats::median(sides.b));
}

PairEstimate estimate_sides(std::string_view metric, const Pairs::Sides& sides, double alpha,
                            const stats::PairSwapPlan& swaps) {
  PairEstimate estimate{.metric = std::string(metric), .alpha = alpha};
  put_medians(sides, estimate);
  put_shift(stats::pair_shift(sides.a, sides.b, alpha, swaps), estimate);
  estimate.p_value = stats::pair_swap_p_value(sides.a, sides.b, swaps);
  return estimate;
}

ComparisonVerdict verdict_of(const PairEstimate& estimate, bool is_change, double gate_ratio) {
  if (is_change && std::abs(estimate.ratio) >= gate_ratio) {
    return estimate.ratio > 0 ? ComparisonVerdict::kSlower : ComparisonVerdict::kFaster;
  }
  if (is_change) {
    return ComparisonVerdict::kChangedLess;
  }
  const bool is_narrow = estimate.low && estimate.high && *estimate.low > -2 * gate_ratio &&
                         *estimate.high < 2 * gate_ratio;
  return is_narrow ? ComparisonVerdict::kEquivalent : ComparisonVerdict::kInconclusive;
}

ComparisonVerdict verdict_from(stats::PairVerdict verdict) {
  switch (verdict) {
    case stats::PairVerdict::kSlower:
      return ComparisonVerdict::kSlower;
    case stats::PairVerdict::kFaster:
      return ComparisonVerdict::kFaster;
    case stats::PairVerdict::kChangedLess:
      return ComparisonVerdict::kChangedLess;
    case stats::PairVerdict::kEquivalent:
      return ComparisonVerdict::kEquivalent;
    case stats::PairVerdict::kInconclusive:
      break;
  }
  return ComparisonVerdict::kInconclusive;
}

ComparisonVerdict opposite(ComparisonVerdict verdict) {
  if (verdict == ComparisonVerdict::kSlower) {
    return ComparisonVerdict::kFaster;
  }
  return verdict == ComparisonVerdict::kFaster ? ComparisonVerdict::kSlower : verdict;
}

/// Adds what the program says of its own metric: the unit, and which way is better.
void put_definition(const Pairs& pairs, PairEstimate& estimate) {
  const auto* definition = pairs.find_definition(estimate.metric);
  if (definition == nullptr) {
    return;
  }
  estimate.unit = definition->unit;
  estimate.better = definition->better;
  if (estimate.better == Better::kHigher) {
    estimate.verdict = opposite(estimate.verdict);
  }
}

/// The metrics of a comparison: those of Assay and, after them, those of the programs.
std::vector<std::string_view> all_metrics(const Pairs& pairs, std::string_view primary) {
  auto metrics = compared_metrics(primary);
  for (const auto name : pairs.program_metrics()) {
    if (std::ranges::find(metrics, name) == metrics.end()) {
      metrics.push_back(name);
    }
  }
  return metrics;
}

/// p of the pairs of one phase, by metric; 1 where a metric has none.
std::vector<double> p_values_of(const Pairs& pairs, const std::vector<PairEstimate>& estimates,
                                PairPhase phase, const stats::PairSwapPlan& swaps) {
  std::vector<double> p_values;
  for (const auto& estimate : estimates) {
    const auto sides = pairs.logs(estimate.metric, phase);
    p_values.push_back(sides.a.empty() ? 1 : stats::pair_swap_p_value(sides.a, sides.b, swaps));
  }
  return p_values;
}

/// Keeps the metrics that the search called changed and that fresh pairs call changed, too.
void confirm_changes(const Pairs& pairs, std::vector<bool>& is_change,
                     const stats::PairSwapPlan& swaps, std::vector<PairEstimate>& estimates) {
  std::vector<PairEstimate*> candidates;
  std::vector<double> p_values;
  const auto fresh = p_values_of(pairs, estimates, PairPhase::kConfirmation, swaps);
  for (std::size_t i = 0; i < estimates.size(); ++i) {
    if (is_change[i]) {
      candidates.push_back(&estimates[i]);
      p_values.push_back(fresh[i]);
    }
  }
  const auto is_again = stats::holm(p_values, kConfirmedAlpha);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    candidates[i]->is_confirmed = is_again[i];
  }
  for (std::size_t i = 0; i < estimates.size(); ++i) {
    is_change[i] = is_change[i] && estimates[i].is_confirmed.value_or(false);
  }
}

/// p and estimate of a part of the search.
struct PartResult {
  double p_value = 1;
  double estimate = 0;
};

PartResult judge_part(std::span<const double> a, std::span<const double> b,
                      const stats::PairSwapPlan& swaps) {
  const Pairs::Sides sides{.a = {a.begin(), a.end()}, .b = {b.begin(), b.end()}};
  return {.p_value = stats::pair_swap_p_value(a, b, swaps),
          .estimate = stats::median(sides.differences())};
}

const PairEstimate* find_estimate(const std::vector<PairEstimate>& metrics, const char* name) {
  const auto found = std::ranges::find(metrics, name, &PairEstimate::metric);
  return found == metrics.end() ? nullptr : &*found;
}

bool is_shift(const PairEstimate* estimate) {
  return estimate != nullptr && (estimate->verdict == ComparisonVerdict::kSlower ||
                                 estimate->verdict == ComparisonVerdict::kFaster);
}

}  // namespace

std::optional<double> ratio_from_log(double log) {
  return std::isfinite(log) ? std::optional(std::expm1(log)) : std::nullopt;
}

std::vector<double> Pairs::Sides::differences() const {
  std::vector<double> result;
  result.reserve(a.size());
  std::ranges::transform(b, a, std::back_inserter(result), std::minus<>());
  return result;
}

void Pairs::add(const Launch& launch) {
  if (!launch.place) {
    return;
  }
  const auto& place = *launch.place;
  auto& pair = pairs_[place.pair];
  pair.phase = place.phase;
  auto& values = pair.sides[place.side];
  values = reduce_launch(launch);
  std::erase_if(values, [](const auto& entry) { return entry.second <= 0; });
  if (place.side == Side::kCanary) {
    return;
  }
  for (const auto& metric :
       launch.measurement ? launch.measurement->metrics : std::vector<ProgramMetric>()) {
    definitions_.try_emplace(std::string(kProgramPrefix) + metric.name, metric);
  }
  ++launches_;
  if (launch.measurement && launch.measurement->times != TimesTold::kNone &&
      find_steady_part(*launch.measurement).finding == WarmupFinding::kUnsteady) {
    ++unsteady_;
  }
  if (!find_disturbances(launch).empty()) {
    disturbed_.insert(place.pair);
  }
}

bool Pairs::is_counted(int number, const Pair& pair, PairPhase phase, Side other) const {
  return pair.phase == phase && !replaced_.contains(number) && pair.sides.contains(Side::kA) &&
         pair.sides.contains(other);
}

int Pairs::count(PairPhase phase) const {
  return static_cast<int>(std::ranges::count_if(pairs_, [this, phase](const auto& entry) {
    return is_counted(entry.first, entry.second, phase, Side::kB);
  }));
}

std::vector<int> Pairs::find_replaceable(PairPhase phase) const {
  const auto is_of_phase = [this, phase](int pair) {
    const auto found = pairs_.find(pair);
    return found != pairs_.end() && found->second.phase == phase;
  };
  auto replaced = static_cast<int>(std::ranges::count_if(replaced_, is_of_phase));
  const int launched = count(phase) + replaced;
  std::vector<int> found;
  for (const int pair : disturbed_) {
    if (is_counted(pair, pairs_.at(pair), phase, Side::kB) &&
        kReplacedOneIn * (replaced + 1) <= launched) {
      found.push_back(pair);
      ++replaced;
    }
  }
  return found;
}

Pairs::Sides Pairs::logs(std::string_view metric, PairPhase phase, Side other) const {
  Sides sides;
  for (const auto& [number, pair] : pairs_) {
    if (!is_counted(number, pair, phase, other)) {
      continue;
    }
    const auto& a = pair.sides.at(Side::kA);
    const auto& b = pair.sides.at(other);
    const auto value_a = a.find(metric);
    const auto value_b = b.find(metric);
    const bool are_positive = value_a != a.end() && value_b != b.end() && value_a->second > 0 &&
                              value_b->second > 0;  // A coarse clock may tell of no time at all.
    if (are_positive) {
      sides.a.push_back(std::log(value_a->second));
      sides.b.push_back(std::log(value_b->second));
    }
  }
  return sides;
}

Pairs::Sides Pairs::all_logs(std::string_view metric, Side other) const {
  auto sides = logs(metric, PairPhase::kSearch, other);
  const auto fresh = logs(metric, PairPhase::kConfirmation, other);
  sides.a.insert(sides.a.end(), fresh.a.begin(), fresh.a.end());
  sides.b.insert(sides.b.end(), fresh.b.begin(), fresh.b.end());
  return sides;
}

const ProgramMetric* Pairs::find_definition(std::string_view metric) const {
  const auto found = definitions_.find(metric);
  return found == definitions_.end() ? nullptr : &found->second;
}

std::vector<std::string_view> Pairs::program_metrics() const {
  std::vector<std::string_view> names(definitions_.size());
  std::ranges::copy(definitions_ | std::views::keys, names.begin());
  return names;
}

PairEstimate estimate_of(std::string_view metric, const Pairs& pairs, const Pairs::Sides& sides,
                         const stats::LookResult& look) {
  PairEstimate estimate{.metric = std::string(metric), .alpha = look.alpha};
  put_medians(sides, estimate);
  put_shift(look.shift, estimate);
  estimate.pairs = look.pairs;
  estimate.p_value = look.p_value;
  estimate.verdict = verdict_from(look.verdict);
  put_definition(pairs, estimate);
  return estimate;
}

std::vector<PairEstimate> estimate_all(const Pairs& pairs, const ComparisonPlan& plan,
                                       const stats::PairSwapPlan& swaps) {
  std::vector<PairEstimate> estimates;
  for (const auto metric : all_metrics(pairs, plan.metric)) {
    const auto sides = pairs.all_logs(metric);
    if (!sides.a.empty()) {
      estimates.push_back(estimate_sides(metric, sides, kShownAlpha, swaps));
    }
  }
  auto is_change = stats::benjamini_hochberg(
      p_values_of(pairs, estimates, PairPhase::kSearch, swaps), kFalseDiscoveryRate);
  if (pairs.count(PairPhase::kConfirmation) > 0) {
    confirm_changes(pairs, is_change, swaps, estimates);
  }
  for (std::size_t i = 0; i < estimates.size(); ++i) {
    estimates[i].verdict = verdict_of(estimates[i], is_change[i], plan.gate_ratio);
    put_definition(pairs, estimates[i]);
  }
  return estimates;
}

std::optional<PairEstimate> estimate_canary(const Pairs& pairs, const ComparisonPlan& plan,
                                            const stats::PairSwapPlan& swaps) {
  const auto sides = pairs.all_logs(plan.metric, Side::kCanary);
  if (sides.a.empty()) {
    return std::nullopt;
  }
  auto estimate = estimate_sides(plan.metric, sides, kCanaryAlpha, swaps);
  const bool is_change = estimate.p_value <= kCanaryAlpha;
  estimate.verdict = !is_change           ? ComparisonVerdict::kEquivalent
                     : estimate.ratio > 0 ? ComparisonVerdict::kSlower
                                          : ComparisonVerdict::kFaster;
  put_definition(pairs, estimate);
  return estimate;
}

std::string find_contradiction(const Pairs& pairs, const std::vector<PairEstimate>& metrics,
                               const ComparisonPlan& plan, const stats::PairSwapPlan& swaps) {
  const auto sides = pairs.logs(plan.metric, PairPhase::kSearch);
  const auto half = sides.a.size() / 2;
  if (half > 0) {
    const std::span a(sides.a);
    const std::span b(sides.b);
    const auto first = judge_part(a.first(half), b.first(half), swaps);
    const auto second = judge_part(a.subspan(half), b.subspan(half), swaps);
    if (first.p_value < kHalfAlpha && second.p_value < kHalfAlpha &&
        first.estimate * second.estimate < 0) {
      return fmt::format("the first half of the pairs says {:+.1f} %, the second {:+.1f} %",
                         std::expm1(first.estimate) * 100, std::expm1(second.estimate) * 100);
    }
  }
  const auto* floor = find_estimate(metrics, "steady_floor_ns");
  const auto* median = find_estimate(metrics, "steady_ns");
  if (is_shift(floor) && is_shift(median) && floor->verdict != median->verdict) {
    return fmt::format("the floor changed by {:+.1f} %, the median by {:+.1f} %",
                       floor->ratio * 100, median->ratio * 100);
  }
  return {};
}

}  // namespace assay
