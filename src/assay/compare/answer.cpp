#include "assay/compare/answer.h"

#include <algorithm>
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
  const bool is_off =
      canary && is_change(canary->verdict) && std::abs(canary->ratio) >= comparison.gate_ratio / 2;
  return is_off ? &*canary : nullptr;
}

/// The size is that of all pairs: the look's own interval is as wide as its small alpha asks for.
std::string text_of_change(const Comparison& comparison, const PairEstimate& look) {
  const auto& all = comparison.metrics.empty() ? look : comparison.metrics.front();
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

std::string text_of_equivalent(const PairEstimate& look) {
  const double widest = std::max(std::abs(look.low.value_or(0)), std::abs(look.high.value_or(0)));
  return fmt::format("no difference larger than {} ({} pairs)", percent(widest), look.pairs);
}

std::string text_of_inconclusive(const Comparison& comparison, const PairEstimate& look) {
  const auto more = comparison.pairs_needed - look.pairs;
  return fmt::format("cannot tell: B is {}{} of A on {} pairs{}", text_from_ratio(look.ratio),
                     interval_text(look), look.pairs,
                     more > 0 ? fmt::format("; about {} more pairs would tell", more) : "");
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

void settle_verdict(Comparison& comparison) {
  if (comparison.looks.empty()) {
    comparison.verdict = ComparisonVerdict::kInconclusive;
    comparison.text = "cannot tell: too few pairs for a first look";
    return;
  }
  const auto& look = comparison.looks.back();
  if (const auto* canary = find_wrong_canary(comparison)) {
    comparison.verdict = ComparisonVerdict::kInconclusive;
    comparison.text = fmt::format(
        "cannot tell: a copy of A came out {} of A itself, so this machine is not fit "
        "to compare on now",
        text_from_ratio(canary->ratio));
  } else if (is_change(comparison.verdict) && comparison.is_confirmed) {
    comparison.text = text_of_change(comparison, look);
  } else if (is_change(comparison.verdict)) {
    comparison.verdict = ComparisonVerdict::kInconclusive;
    comparison.text = text_of_unconfirmed(comparison, look);
  } else if (comparison.verdict == ComparisonVerdict::kChangedLess) {
    comparison.text = fmt::format("B changed by {}{}, less than the {} that matter ({} pairs)",
                                  text_from_ratio(look.ratio), interval_text(look),
                                  percent(comparison.gate_ratio), look.pairs);
  } else if (comparison.verdict == ComparisonVerdict::kEquivalent) {
    comparison.text = text_of_equivalent(look);
  } else {
    comparison.text = text_of_inconclusive(comparison, look);
  }
  if (!comparison.metrics.empty()) {
    comparison.metrics.front().verdict = comparison.verdict;
  }
}

}  // namespace assay
