#include "assay/compare/answer.h"

#include <cmath>
#include <fmt/format.h>
#include <string>

#include "assay/base/enum_names.h"
#include "assay/record/comparison.h"
#include "assay/record/launch.h"

namespace assay {
namespace {

std::string interval_text(const PairEstimate& estimate) {
  return estimate.low && estimate.high ? fmt::format(" [{}, {}]", text_from_ratio(*estimate.low),
                                                     text_from_ratio(*estimate.high))
                                       : std::string();
}

std::string percent(double ratio) { return fmt::format("{:.2g} %", std::abs(ratio) * 100); }

/// The canary's estimate if it differs from A; else null.
const PairEstimate* find_wrong_canary(const Comparison& comparison) {
  const auto& canary = comparison.canary;
  const bool is_off = canary && is_change(canary->verdict) &&
                      std::abs(canary->ratio) >= comparison.plan.gate_ratio / 2;
  return is_off ? &*canary : nullptr;
}

/// The size that is told is that of all pairs, as the table has it: the look's own interval is as
/// wide as its small alpha asks for.
const PairEstimate& told_estimate(const Comparison& comparison) {
  return comparison.metrics.empty() ? comparison.looks.back() : comparison.metrics.front();
}

std::string text_of_change(const Comparison& comparison, const PairEstimate& look) {
  const auto& all = told_estimate(comparison);
  return fmt::format("B is {} {} than A{}, found on {} pairs and again on {} fresh ones",
                     percent(all.ratio), all.ratio > 0 ? "slower" : "faster", interval_text(all),
                     look.pairs, comparison.confirmation ? comparison.confirmation->pairs : 0);
}

std::string text_of_unconfirmed(const Comparison& comparison, const PairEstimate& look) {
  return fmt::format(
      "cannot tell: B looked {} {} on {} pairs, but {} fresh ones say {}; run it again",
      percent(look.ratio), look.ratio > 0 ? "slower" : "faster", look.pairs,
      comparison.confirmation ? comparison.confirmation->pairs : 0,
      comparison.confirmation ? text_from_ratio(comparison.confirmation->ratio) : "nothing");
}

/// What the look excluded is twice what matters; see stats/looks.h.
std::string text_of_equivalent(const Comparison& comparison, const PairEstimate& look) {
  const auto& all = told_estimate(comparison);
  return fmt::format(
      "no difference that matters: B is {}{} of A, and changes of {} and more, twice what matters, "
      "are excluded ({} pairs)",
      text_from_ratio(all.ratio), interval_text(all), percent(2 * comparison.plan.gate_ratio),
      look.pairs);
}

std::string text_of_inconclusive(const Comparison& comparison, const PairEstimate& look) {
  const auto more = comparison.pairs_needed - look.pairs;
  const auto& all = told_estimate(comparison);
  return fmt::format("cannot tell: B is {}{} of A on {} pairs{}", text_from_ratio(all.ratio),
                     interval_text(all), look.pairs,
                     more > 0 ? fmt::format("; about {} more pairs would tell", more) : "");
}

constexpr double kMostUnsteady = 0.25;

bool is_too_unsteady(const Comparison& comparison) {
  return comparison.plan.metric != "steady_floor_ns" &&
         comparison.launches_unsteady > kMostUnsteady * comparison.launches;
}

/// Why the looks' verdict does not hold; empty when it does.
std::string text_of_doubt(const Comparison& comparison, const std::string& contradiction) {
  if (const auto* canary = find_wrong_canary(comparison)) {
    return fmt::format(
        "cannot tell: a copy of A came out {} of A itself, so this machine is not fit "
        "to compare on now",
        text_from_ratio(canary->ratio));
  }
  if (!contradiction.empty()) {
    return fmt::format("cannot tell: {}; run it again on a quieter machine", contradiction);
  }
  if (is_too_unsteady(comparison)) {
    return fmt::format(
        "cannot tell: {} of {} launches never became steady; more iterations (--iterations 200) or "
        "the floor (--metric steady_floor_ns) would help",
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
      return text_of_change(comparison, look);
    case ComparisonVerdict::kChangedLess:
      return fmt::format("B changed by {}{}, less than the {} that matter ({} pairs)",
                         text_from_ratio(told_estimate(comparison).ratio),
                         interval_text(told_estimate(comparison)),
                         percent(comparison.plan.gate_ratio), look.pairs);
    case ComparisonVerdict::kEquivalent:
      return text_of_equivalent(comparison, look);
    case ComparisonVerdict::kInconclusive:
    case ComparisonVerdict::kIdentical:
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

std::string text_of_failure(const Comparison& comparison, const Launch& launch) {
  const bool is_b = launch.place && launch.place->side == Side::kB;
  return fmt::format("{} ({}) {} in pair {}: {}", is_b ? "B" : "A",
                     is_b ? comparison.b_label : comparison.a_label, name_of(launch.outcome),
                     launch.place ? launch.place->pair + 1 : 0, launch.text);
}

void settle_verdict(Comparison& comparison, const std::string& contradiction) {
  const auto doubt = comparison.looks.empty() ? "cannot tell: too few pairs for a first look"
                                              : text_of_doubt(comparison, contradiction);
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
