#include "features/compare/verdict.h"

#include <cmath>
#include <fmt/format.h>
#include <string>
#include <string_view>

#include "assay/base/enum_names.h"
#include "assay/record/comparison.h"
#include "assay/record/launch.h"
#include "assay/record/metric.h"

namespace assay {
namespace {

std::string interval_text(const PairEstimate& estimate) {
  return estimate.low && estimate.high
             ? fmt::format(" [{}, {}]", text_of_change(estimate, *estimate.low),
                           text_of_change(estimate, *estimate.high))
             : std::string();
}

/// Says a setting, as it was given: "2 %".
std::string percent(double ratio) { return fmt::format("{:.3g} %", ratio * 100); }

/// "45 % less", "4.9 % more": how much B takes or has beside A; "5 more" where A is 0.
std::string more_or_less(const PairEstimate& estimate) {
  const double ratio = estimate.ratio;
  if (!is_relative(estimate)) {
    return fmt::format("{:.3g} {}", std::abs(ratio), ratio < 0 ? "less" : "more");
  }
  const double size = std::abs(ratio) * 100;
  return fmt::format("{:.{}f} % {}", size,
                     size < 1    ? 2
                     : size < 10 ? 1
                                 : 0,
                     ratio < 0 ? "less" : "more");
}

constexpr double kLeastFactor = 1.1;  ///< A smaller one says no more than the percentage.

/// ": 1.8 times as fast", ": 2.0 times as long"; empty for a small change.
std::string factor_text(const PairEstimate& estimate) {
  const double ratio = estimate.ratio;
  const double factor = ratio < 0 ? 1 / (1 + ratio) : 1 + ratio;
  if (!is_relative(estimate) || !(factor >= kLeastFactor) || !std::isfinite(factor)) {
    return {};
  }
  return fmt::format(": {:.{}f} times as {}", factor, factor < 10 ? 1 : 0,
                     ratio < 0 ? "fast" : "long");
}

/// Names what the primary metric counts: "time", or the name that its program gives it.
std::string noun_of(const Comparison& comparison) {
  const std::string_view metric = comparison.plan.metric;
  return metric.starts_with(kProgramPrefix) ? std::string(metric.substr(kProgramPrefix.size()))
                                            : "time";
}

/// "B takes 4.9 % more time than A", "B has 4.9 % less tokens_per_s than A".
std::string present_text(const Comparison& comparison, const PairEstimate& estimate) {
  const auto noun = noun_of(comparison);
  return fmt::format("B {} {} {} than A", noun == "time" ? "takes" : "has", more_or_less(estimate),
                     noun);
}

/// True if a change is at least half of what matters, by the ratio or its reciprocal.
bool is_notable(const PairEstimate& estimate, double gate_ratio) {
  return estimate.scale == MetricScale::kRatio
             ? std::abs(std::log1p(estimate.ratio)) >= std::log1p(gate_ratio) / 2
             : !is_relative(estimate) || std::abs(estimate.ratio) >= gate_ratio / 2;
}

/// The canary's estimate if it differs from A; else null.
const PairEstimate* find_wrong_canary(const Comparison& comparison) {
  const auto& canary = comparison.canary;
  const bool is_off =
      canary && is_change(canary->verdict) && is_notable(*canary, comparison.plan.gate_ratio);
  return is_off ? &*canary : nullptr;
}

/// The reported size is that of all pairs, as the table has it: the look's own interval is as
/// wide as its small alpha asks for.
const PairEstimate& told_estimate(const Comparison& comparison) {
  return comparison.metrics.empty() ? comparison.looks.back() : comparison.metrics.front();
}

std::string text_of_shift(const Comparison& comparison, const PairEstimate& look) {
  const auto& all = told_estimate(comparison);
  return fmt::format("{}{}{}, found on {} pairs and again on {} fresh ones",
                     present_text(comparison, all), interval_text(all),
                     noun_of(comparison) == "time" ? factor_text(all) : "", look.pairs,
                     comparison.confirmation ? comparison.confirmation->pairs : 0);
}

std::string text_of_unconfirmed(const Comparison& comparison, const PairEstimate& look) {
  const auto noun = noun_of(comparison);
  const auto first =
      fmt::format("cannot tell: B {} {} {} than A on {} pairs", noun == "time" ? "took" : "had",
                  more_or_less(look), noun, look.pairs);
  return comparison.confirmation
             ? fmt::format("{}, but {} on {} fresh pairs; run it again", first,
                           more_or_less(*comparison.confirmation), comparison.confirmation->pairs)
             : first + ", which no fresh pairs confirmed; run it again";
}

/// A look excludes changes of twice the size that matters; see stats/looks.h.
std::string text_of_equivalent(const Comparison& comparison, const PairEstimate& look) {
  const auto& all = told_estimate(comparison);
  return fmt::format(
      "no difference that matters: {}{}; a change of {} or more, twice what matters, is excluded "
      "({} pairs)",
      present_text(comparison, all), interval_text(all), percent(2 * comparison.plan.gate_ratio),
      look.pairs);
}

std::string text_of_inconclusive(const Comparison& comparison, const PairEstimate& look) {
  const auto more = comparison.pairs_needed - look.pairs;
  const auto& all = told_estimate(comparison);
  return fmt::format("cannot tell: {}{} on {} pairs{}", present_text(comparison, all),
                     interval_text(all), look.pairs,
                     more > 0 ? fmt::format("; about {} more pairs would decide", more) : "");
}

constexpr double kMostUnsteady = 0.25;

/// The metrics of which the inferences after the warm-up are the whole: the floor is the least of
/// them, and neither loading nor the first inference waits for any.
bool is_of_steady_part(std::string_view metric) {
  return metric == "steady_ns" || metric == "steady_p90_ns";
}

bool is_too_unsteady(const Comparison& comparison) {
  return is_of_steady_part(comparison.plan.metric) &&
         comparison.launches_unsteady > kMostUnsteady * comparison.launches;
}

/// Why a change stands although launches never became steady.
std::string text_of_apart(const Comparison& comparison) {
  const bool is_b_slower = told_estimate(comparison).ratio > 0;
  return fmt::format(
      "; {} of {} launches never became steady, but the fastest inferences of {} take longer than "
      "nine in ten of {}",
      comparison.launches_unsteady, comparison.launches, is_b_slower ? "B" : "A",
      is_b_slower ? "A" : "B");
}

/// Why the looks' verdict does not hold; empty when it does.
std::string text_of_doubt(const Comparison& comparison, const std::string& contradiction,
                          bool are_apart) {
  if (const auto* canary = find_wrong_canary(comparison)) {
    const auto noun = noun_of(comparison);
    return fmt::format(
        "cannot tell: a copy of A {} {} {} than A itself, so this machine is too disturbed to "
        "compare now",
        noun == "time" ? "took" : "had", more_or_less(*canary), noun);
  }
  if (!contradiction.empty()) {
    return fmt::format("cannot tell: {}; run it again on a quieter machine", contradiction);
  }
  if (is_too_unsteady(comparison) && !(are_apart && is_change(comparison.verdict))) {
    return fmt::format(
        "cannot tell: {} of {} launches never became steady; longer launches (--iterations and "
        "--time-budget end one) or the floor (--metric steady_floor_ns) would help",
        comparison.launches_unsteady, comparison.launches);
  }
  return is_change(comparison.verdict) && !comparison.is_confirmed
             ? text_of_unconfirmed(comparison, comparison.looks.back())
             : "";
}

std::string text_of_look(const Comparison& comparison) {
  const auto& look = comparison.looks.back();
  switch (comparison.verdict) {
    case ComparisonVerdict::kFaster:
    case ComparisonVerdict::kSlower:
      return text_of_shift(comparison, look) +
             (is_too_unsteady(comparison) ? text_of_apart(comparison) : "");
    case ComparisonVerdict::kChangedLess:
      return fmt::format("{}{}, below the {} that matter ({} pairs)",
                         present_text(comparison, told_estimate(comparison)),
                         interval_text(told_estimate(comparison)),
                         percent(comparison.plan.gate_ratio), look.pairs);
    case ComparisonVerdict::kEquivalent:
      return text_of_equivalent(comparison, look);
    case ComparisonVerdict::kInconclusive:
    case ComparisonVerdict::kIdentical:
    case ComparisonVerdict::kChanged:
      break;
  }
  return text_of_inconclusive(comparison, look);
}

}  // namespace

bool is_change(ComparisonVerdict verdict) {
  return verdict == ComparisonVerdict::kFaster || verdict == ComparisonVerdict::kSlower;
}

std::string text_from_ratio(double ratio) {
  return fmt::format("{:+.{}f} %", ratio * 100, std::abs(ratio) < 0.01 ? 2 : 1);
}

std::string text_of_change(const PairEstimate& estimate, double ratio) {
  return is_relative(estimate) ? text_from_ratio(ratio) : fmt::format("{:+.3g}", ratio);
}

std::string text_of_failure(const Comparison& comparison, const Launch& launch) {
  const bool is_b = launch.place && launch.place->side == Side::kB;
  return fmt::format("{} ({}) {} in pair {}: {}", is_b ? "B" : "A",
                     is_b ? comparison.b_label : comparison.a_label, name_of(launch.outcome),
                     launch.place ? launch.place->pair + 1 : 0, launch.text);
}

void settle_verdict(Comparison& comparison, const std::string& contradiction, bool are_apart) {
  const auto doubt = comparison.looks.empty() ? "cannot tell: too few pairs for a first look"
                                              : text_of_doubt(comparison, contradiction, are_apart);
  if (!doubt.empty()) {
    comparison.verdict = ComparisonVerdict::kInconclusive;
    comparison.text = doubt;
  } else {
    comparison.text = text_of_look(comparison);
  }
  if (!comparison.metrics.empty()) {
    comparison.metrics.front().verdict = comparison.verdict;
  }
}

}  // namespace assay
