#include "assay/compare/pairs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/compare/reduction.h"
#include "assay/record/comparison.h"
#include "assay/record/launch.h"
#include "assay/stats/looks.h"
#include "assay/stats/multiplicity.h"
#include "assay/stats/pair_test.h"
#include "assay/stats/quantile.h"
#include "assay/summary/disturbance.h"

namespace assay {
namespace {

constexpr double kShownAlpha = 0.05;  ///< Of the intervals in the table of all metrics.
constexpr double kFalseDiscoveryRate = 0.05;
constexpr double kCanaryAlpha = 0.01;

std::optional<double> ratio_from_log(double log) {
  return std::isfinite(log) ? std::optional(std::expm1(log)) : std::nullopt;
}

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

}  // namespace

void Pairs::add(const Launch& launch) {
  if (!launch.place) {
    return;
  }
  auto& values = pairs_[launch.place->pair][launch.place->side];
  for (const auto metric : compared_metrics({})) {
    if (const auto value = reduce_launch(launch, metric); value && *value > 0) {
      values[std::string(metric)] = *value;
    }
  }
  if (launch.place->side != Side::kCanary && !find_disturbances(launch).empty()) {
    disturbed_.insert(launch.place->pair);
  }
}

int Pairs::count() const {
  return static_cast<int>(std::ranges::count_if(pairs_, [this](const auto& entry) {
    return !replaced_.contains(entry.first) && entry.second.contains(Side::kA) &&
           entry.second.contains(Side::kB);
  }));
}

Pairs::Sides Pairs::logs(std::string_view metric, Side other) const {
  Sides sides;
  for (const auto& [pair, launches] : pairs_) {
    const auto a = launches.find(Side::kA);
    const auto b = launches.find(other);
    if (a == launches.end() || b == launches.end() || replaced_.contains(pair)) {
      continue;
    }
    const auto value_a = a->second.find(metric);
    const auto value_b = b->second.find(metric);
    if (value_a != a->second.end() && value_b != b->second.end()) {
      sides.a.push_back(std::log(value_a->second));
      sides.b.push_back(std::log(value_b->second));
    }
  }
  return sides;
}

PairEstimate Pairs::estimate_of(std::string_view metric, const stats::LookResult& look) const {
  PairEstimate estimate{.metric = std::string(metric), .alpha = look.alpha};
  put_medians(logs(metric), estimate);
  put_shift(look.shift, estimate);
  estimate.pairs = look.pairs;
  estimate.p_value = look.p_value;
  estimate.verdict = verdict_from(look.verdict);
  return estimate;
}

std::vector<PairEstimate> Pairs::estimate_all(std::string_view primary, double gate_ratio,
                                              const stats::PairSwapPlan& swaps) const {
  std::vector<PairEstimate> estimates;
  std::vector<double> p_values;
  for (const auto metric : compared_metrics(primary)) {
    const auto sides = logs(metric);
    if (!sides.a.empty()) {
      estimates.push_back(estimate_sides(metric, sides, kShownAlpha, swaps));
      p_values.push_back(estimates.back().p_value);
    }
  }
  const auto is_change = stats::benjamini_hochberg(p_values, kFalseDiscoveryRate);
  for (std::size_t i = 0; i < estimates.size(); ++i) {
    estimates[i].verdict = verdict_of(estimates[i], is_change[i], gate_ratio);
  }
  return estimates;
}

std::optional<PairEstimate> Pairs::estimate_canary(std::string_view metric,
                                                   const stats::PairSwapPlan& swaps) const {
  const auto sides = logs(metric, Side::kCanary);
  if (sides.a.empty()) {
    return std::nullopt;
  }
  auto estimate = estimate_sides(metric, sides, kCanaryAlpha, swaps);
  const bool is_change = estimate.p_value <= kCanaryAlpha;
  estimate.verdict = !is_change           ? ComparisonVerdict::kEquivalent
                     : estimate.ratio > 0 ? ComparisonVerdict::kSlower
                                          : ComparisonVerdict::kFaster;
  return estimate;
}

}  // namespace assay
