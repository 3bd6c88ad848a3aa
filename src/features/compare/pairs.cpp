#include "features/compare/pairs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fmt/format.h>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "assay/record/comparison.h"
#include "assay/record/launch.h"
#include "assay/record/metric.h"
#include "assay/record/metric_scale.h"
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

void put_shift(const stats::Shift& shift, const Pairs::Sides& sides, PairEstimate& estimate) {
  estimate.ratio = sides.ratio_of(shift.estimate).value_or(0);
  estimate.low = sides.ratio_of(sides.sign > 0 ? shift.low : shift.high);
  estimate.high = sides.ratio_of(sides.sign > 0 ? shift.high : shift.low);
  estimate.confidence = shift.confidence;
}

/// Puts the medians of the sides, and how they are compared.
void put_sides(const Pairs& pairs, const Pairs::Sides& sides, PairEstimate& estimate) {
  estimate.pairs = static_cast<int>(sides.a.size());
  estimate.a_median = sides.value_of(stats::median(sides.a));
  estimate.b_median = sides.value_of(stats::median(sides.b));
  estimate.scale = sides.scale;
  estimate.base = sides.scale == MetricScale::kDifference && sides.is_relative ? sides.size : 0;
  if (estimate.metric.starts_with(kProgramPrefix)) {
    const auto definition = pairs.definition(estimate.metric);
    estimate.unit = definition.unit;
    estimate.better = definition.better;
  }
}

/// All pairs of a metric with what the shift says of them.
struct Estimated {
  Pairs::Sides sides;
  stats::Shift shift;
  PairEstimate record;
};

Estimated estimate_sides(const Pairs& pairs, std::string_view metric, Pairs::Sides sides,
                         double alpha, const stats::PairSwapPlan& swaps) {
  Estimated result{.sides = std::move(sides), .shift = {}, .record = {}};
  const auto& [a, b] = std::tie(result.sides.a, result.sides.b);
  result.shift = stats::pair_shift(a, b, alpha, swaps);
  result.record = {.metric = std::string(metric),
                   .p_value = stats::pair_swap_p_value(a, b, swaps),
                   .alpha = alpha};
  put_sides(pairs, result.sides, result.record);
  put_shift(result.shift, result.sides, result.record);
  return result;
}

/// The verdict of a change by the sides' difference, which is above 0 where B is worse.
ComparisonVerdict verdict_of_change(Better better, double difference) {
  if (better == Better::kNone) {
    return ComparisonVerdict::kChanged;
  }
  return difference > 0 ? ComparisonVerdict::kSlower : ComparisonVerdict::kFaster;
}

/// Judged as the looks judge: in the differences of the sides, so that a rate and the time that is
/// its reciprocal have opposite answers.
ComparisonVerdict verdict_of(const Pairs& pairs, const Estimated& estimated, bool is_change,
                             double gate_ratio) {
  const auto& shift = estimated.shift;
  const double gate = estimated.sides.gate(gate_ratio);
  if (is_change && std::abs(shift.estimate) >= gate) {
    return verdict_of_change(pairs.definition(estimated.record.metric).better, shift.estimate);
  }
  if (is_change) {
    return ComparisonVerdict::kChangedLess;
  }
  return shift.low > -2 * gate && shift.high < 2 * gate ? ComparisonVerdict::kEquivalent
                                                        : ComparisonVerdict::kInconclusive;
}

ComparisonVerdict verdict_from(const stats::LookResult& look, Better better) {
  switch (look.verdict) {
    case stats::PairVerdict::kSlower:
    case stats::PairVerdict::kFaster:
      return verdict_of_change(better, look.shift.estimate);
    case stats::PairVerdict::kChangedLess:
      return ComparisonVerdict::kChangedLess;
    case stats::PairVerdict::kEquivalent:
      return ComparisonVerdict::kEquivalent;
    case stats::PairVerdict::kInconclusive:
      break;
  }
  return ComparisonVerdict::kInconclusive;
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
std::vector<double> p_values_of(const Pairs& pairs, const std::vector<Estimated>& estimates,
                                PairPhase phase, const stats::PairSwapPlan& swaps) {
  std::vector<double> p_values;
  for (const auto& estimate : estimates) {
    const auto sides = pairs.sides(estimate.record.metric, phase);
    p_values.push_back(sides.a.empty() ? 1 : stats::pair_swap_p_value(sides.a, sides.b, swaps));
  }
  return p_values;
}

/// Keeps the metrics that the search called changed and that fresh pairs call changed, too.
void confirm_changes(const Pairs& pairs, std::vector<bool>& is_change,
                     const stats::PairSwapPlan& swaps, std::vector<Estimated>& estimates) {
  std::vector<PairEstimate*> candidates;
  std::vector<double> p_values;
  const auto fresh = p_values_of(pairs, estimates, PairPhase::kConfirmation, swaps);
  for (std::size_t i = 0; i < estimates.size(); ++i) {
    if (is_change[i]) {
      candidates.push_back(&estimates[i].record);
      p_values.push_back(fresh[i]);
    }
  }
  const auto is_again = stats::holm(p_values, kConfirmedAlpha);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    candidates[i]->is_confirmed = is_again[i];
  }
  for (std::size_t i = 0; i < estimates.size(); ++i) {
    is_change[i] = is_change[i] && estimates[i].record.is_confirmed.value_or(false);
  }
}

/// p and estimate of a part of the search.
struct PartResult {
  double p_value = 1;
  double estimate = 0;
};

PartResult judge_part(const Pairs::Sides& part, const stats::PairSwapPlan& swaps) {
  return {.p_value = stats::pair_swap_p_value(part.a, part.b, swaps),
          .estimate = stats::median(part.differences())};
}

/// "+5.0 %", or "+3" in the metric's unit where A has nothing to be a share of.
std::string text_of_part(const Pairs::Sides& sides, const PartResult& part) {
  const double ratio = sides.ratio_of(part.estimate).value_or(0);
  return sides.is_relative ? fmt::format("{:+.1f} %", ratio * 100) : fmt::format("{:+.3g}", ratio);
}

const PairEstimate* find_estimate(const std::vector<PairEstimate>& metrics, const char* name) {
  const auto found = std::ranges::find(metrics, name, &PairEstimate::metric);
  return found == metrics.end() ? nullptr : &*found;
}

bool is_shift(const PairEstimate* estimate) {
  return estimate != nullptr && (estimate->verdict == ComparisonVerdict::kSlower ||
                                 estimate->verdict == ComparisonVerdict::kFaster);
}

/// One after the other; the pairs without the metric of both.
Pairs::Sides joined(Pairs::Sides first, const Pairs::Sides& second) {
  first.a.insert(first.a.end(), second.a.begin(), second.a.end());
  first.b.insert(first.b.end(), second.b.begin(), second.b.end());
  first.without += second.without;
  return first;
}

/// Mean of the values' sizes; 1 where all are 0.
double mean_size(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (const auto side : {a, b}) {
    sum = std::accumulate(side.begin(), side.end(), sum,
                          [](double before, double value) { return before + std::abs(value); });
  }
  return sum > 0 ? sum / static_cast<double>(a.size() + b.size()) : 1;
}

}  // namespace

std::vector<double> Pairs::Sides::differences() const {
  std::vector<double> result;
  result.reserve(a.size());
  std::ranges::transform(b, a, std::back_inserter(result), std::minus<>());
  return result;
}

double Pairs::Sides::value_of(double number) const {
  return scale == MetricScale::kRatio ? std::exp(sign * number) : sign * number * size;
}

double Pairs::Sides::gate(double gate_ratio) const {
  return scale == MetricScale::kRatio ? std::log1p(gate_ratio) : gate_ratio;
}

std::optional<double> Pairs::Sides::ratio_of(double difference) const {
  if (!std::isfinite(difference)) {
    return std::nullopt;
  }
  return scale == MetricScale::kRatio ? std::expm1(sign * difference)
                                      : sign * difference * (is_relative ? 1 : size);
}

Pairs::Sides Pairs::Sides::first(std::size_t count) const {
  auto part = *this;
  part.a.resize(std::min(count, a.size()));
  part.b.resize(std::min(count, b.size()));
  return part;
}

void Pairs::add(const Launch& launch) {
  if (!launch.place) {
    return;
  }
  const auto& place = *launch.place;
  auto& pair = pairs_[place.pair];
  pair.phase = place.phase;
  pair.sides[place.side] = reduce_launch(launch);
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

Pairs::Sides Pairs::values(std::string_view metric, PairPhase phase, Side other) const {
  Sides sides;
  for (const auto& [number, pair] : pairs_) {
    if (!is_counted(number, pair, phase, other)) {
      continue;
    }
    const auto& a = pair.sides.at(Side::kA);
    const auto& b = pair.sides.at(other);
    const auto value_a = a.find(metric);
    const auto value_b = b.find(metric);
    if (value_a == a.end() || value_b == b.end() || !std::isfinite(value_a->second) ||
        !std::isfinite(value_b->second)) {
      ++sides.without;
      continue;
    }
    sides.a.push_back(value_a->second);
    sides.b.push_back(value_b->second);
  }
  return sides;
}

void Pairs::Sides::put_scale(const MetricDefinition& definition, const Sides& all) {
  const auto is_positive = [](double value) { return value > 0; };
  const bool are_positive =
      std::ranges::all_of(all.a, is_positive) && std::ranges::all_of(all.b, is_positive);
  const double median = all.a.empty() ? 0 : std::abs(stats::median(all.a));
  const double mean = mean_size(all.a, all.b);
  sign = definition.better == Better::kHigher ? -1 : 1;
  if (are_positive && scale_of(definition) == MetricScale::kRatio) {
    for (auto* const side : {&a, &b}) {
      std::ranges::for_each(*side, [this](double& value) { value = sign * std::log(value); });
    }
    return;
  }
  scale = MetricScale::kDifference;
  is_relative = median > 0;
  size = is_relative ? median : mean;
  for (auto* const side : {&a, &b}) {
    std::ranges::for_each(*side, [this](double& value) { value *= sign / size; });
  }
}

void Pairs::put_scale_of_all(std::string_view metric, Side other, Sides& sides) const {
  auto all = joined(values(metric, PairPhase::kSearch, other),
                    values(metric, PairPhase::kConfirmation, other));
  all = joined(std::move(all), values(metric, PairPhase::kPilot, other));
  sides.put_scale(definition(metric), all);
}

Pairs::Sides Pairs::sides(std::string_view metric, PairPhase phase, Side other) const {
  auto found = values(metric, phase, other);
  put_scale_of_all(metric, other, found);
  return found;
}

Pairs::Sides Pairs::all_sides(std::string_view metric, Side other) const {
  auto found = joined(values(metric, PairPhase::kSearch, other),
                      values(metric, PairPhase::kConfirmation, other));
  put_scale_of_all(metric, other, found);
  return found;
}

MetricDefinition Pairs::definition(std::string_view metric) const {
  if (const auto found = definitions_.find(metric); found != definitions_.end()) {
    const auto& [name, own] = *found;
    return {.name = name, .unit = own.unit, .better = own.better, .level = "case", .title = name};
  }
  const auto* known = find_metric(metric);
  return known == nullptr ? MetricDefinition{.name = metric} : *known;
}

std::vector<std::string_view> Pairs::program_metrics() const {
  std::vector<std::string_view> names(definitions_.size());
  std::ranges::copy(definitions_ | std::views::keys, names.begin());
  return names;
}

PairEstimate estimate_of(std::string_view metric, const Pairs& pairs, const Pairs::Sides& sides,
                         const stats::LookResult& look) {
  PairEstimate estimate{
      .metric = std::string(metric), .p_value = look.p_value, .alpha = look.alpha};
  put_sides(pairs, sides.first(static_cast<std::size_t>(look.pairs)), estimate);
  put_shift(look.shift, sides, estimate);
  estimate.verdict = verdict_from(look, pairs.definition(metric).better);
  return estimate;
}

std::vector<PairEstimate> estimate_all(const Pairs& pairs, const ComparisonPlan& plan,
                                       const stats::PairSwapPlan& swaps) {
  std::vector<Estimated> estimates;
  for (const auto metric : all_metrics(pairs, plan.metric)) {
    auto sides = pairs.all_sides(metric);
    if (!sides.a.empty()) {
      estimates.push_back(estimate_sides(pairs, metric, std::move(sides), kShownAlpha, swaps));
    }
  }
  auto is_change = stats::benjamini_hochberg(
      p_values_of(pairs, estimates, PairPhase::kSearch, swaps), kFalseDiscoveryRate);
  if (pairs.count(PairPhase::kConfirmation) > 0) {
    confirm_changes(pairs, is_change, swaps, estimates);
  }
  std::vector<PairEstimate> records;
  for (std::size_t i = 0; i < estimates.size(); ++i) {
    estimates[i].record.verdict = verdict_of(pairs, estimates[i], is_change[i], plan.gate_ratio);
    records.push_back(std::move(estimates[i].record));
  }
  return records;
}

std::optional<PairEstimate> estimate_canary(const Pairs& pairs, const ComparisonPlan& plan,
                                            const stats::PairSwapPlan& swaps) {
  auto sides = pairs.all_sides(plan.metric, Side::kCanary);
  if (sides.a.empty()) {
    return std::nullopt;
  }
  auto estimated = estimate_sides(pairs, plan.metric, std::move(sides), kCanaryAlpha, swaps);
  estimated.record.verdict =
      estimated.record.p_value <= kCanaryAlpha
          ? verdict_of_change(pairs.definition(plan.metric).better, estimated.shift.estimate)
          : ComparisonVerdict::kEquivalent;
  return std::move(estimated.record);
}

std::string find_contradiction(const Pairs& pairs, const std::vector<PairEstimate>& metrics,
                               const ComparisonPlan& plan, const stats::PairSwapPlan& swaps) {
  const auto sides = pairs.sides(plan.metric, PairPhase::kSearch);
  const auto half = sides.a.size() / 2;
  if (half > 0) {
    const auto first = judge_part(sides.first(half), swaps);
    auto rest = sides;
    rest.a.erase(rest.a.begin(), rest.a.begin() + static_cast<std::ptrdiff_t>(half));
    rest.b.erase(rest.b.begin(), rest.b.begin() + static_cast<std::ptrdiff_t>(half));
    const auto second = judge_part(rest, swaps);
    if (first.p_value < kHalfAlpha && second.p_value < kHalfAlpha &&
        first.estimate * second.estimate < 0) {
      return fmt::format("the first half of the pairs says {}, the second {}",
                         text_of_part(sides, first), text_of_part(sides, second));
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
