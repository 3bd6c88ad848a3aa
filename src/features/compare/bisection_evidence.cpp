#include "features/compare/bisection_evidence.h"

#include "features/compare/bisection_search.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "assay/base/result.h"
#include "assay/stats/looks.h"
#include "assay/stats/pair_test.h"
#include "assay/stats/quantile.h"

namespace assay {
namespace {

constexpr double kFreedom = 4;
/// Median of the sizes of Student's t with that freedom.
constexpr double kMedianSize = 0.7406970841126286;

double size_around(std::span<const double> values, double center) {
  std::vector<double> sizes(values.begin(), values.end());
  std::ranges::for_each(sizes, [center](double& one) { one = std::abs(one - center); });
  return stats::median(sizes);
}

double log_density(double distance, double scale) {
  const double scaled = distance / scale;
  return -(kFreedom + 1) / 2 * std::log1p(scaled * scaled / kFreedom);
}

struct SimulatedSearch {
  int pairs = 0;
  bool is_exact = false;
};

SimulatedSearch simulate_search(std::size_t commits, const PairEvidence& evidence,
                                const BisectionPlan& plan, std::mt19937_64& random) {
  std::student_t_distribution<double> noise(kFreedom);
  const std::size_t culprit = random() % commits;
  const std::vector<BisectionCommit> all(commits);
  BisectionSearch search(all);
  SimulatedSearch result{.pairs = 2 * plan.ends + sandwich_pairs(evidence, plan)};
  std::vector<double> pairs(static_cast<std::size_t>(plan.batch));
  for (auto next = search.next(plan.enough); next && result.pairs < plan.most_pairs;
       next = search.next(plan.enough)) {
    const double level = *next >= culprit ? evidence.change : 0;
    std::ranges::generate(pairs, [&] { return level + evidence.scale * noise(random); });
    search.observe(*next, evidence.log_ratio(pairs));
    result.pairs += plan.batch;
  }
  result.is_exact = search.suspects().first == culprit;
  return result;
}

}  // namespace

std::optional<PairEvidence> PairEvidence::calibrate(std::span<const double> good,
                                                    std::span<const double> bad) {
  if (std::min(good.size(), bad.size()) < kLeastPairs) {
    return std::nullopt;
  }
  PairEvidence evidence{.change = stats::median(bad) - stats::median(good)};
  evidence.scale =
      std::max(size_around(good, stats::median(good)), size_around(bad, stats::median(bad))) /
      kMedianSize;
  return evidence.scale > 0 && evidence.change != 0 ? std::optional(evidence) : std::nullopt;
}

double PairEvidence::log_ratio(std::span<const double> pairs) const {
  double sum = 0;
  for (const double pair : pairs) {
    sum += log_density(pair - change, scale) - log_density(pair, scale);
  }
  return tempering * sum;
}

int sandwich_pairs(const PairEvidence& evidence, const BisectionPlan& plan) {
  // The standard error of a median of n normal values is 1.2533 standard deviations / sqrt(n).
  const double deviation = stats::kMadToSigma * kMedianSize * evidence.scale;
  const double root = 3 * 1.2533 * deviation / std::abs(evidence.change);
  return static_cast<int>(std::clamp(std::ceil(root * root),
                                     static_cast<double>(plan.least_sandwich),
                                     static_cast<double>(plan.most_sandwich)));
}

BisectionBudget forecast_bisection(std::size_t commits, const PairEvidence& evidence,
                                   const BisectionPlan& plan, std::uint64_t seed, int searches) {
  ASSAY_CHECK(commits > 0 && searches > 0);
  std::mt19937_64 random(seed);
  std::vector<double> pairs;
  int exact = 0;
  for (int i = 0; i < searches; ++i) {
    const auto search = simulate_search(commits, evidence, plan, random);
    pairs.push_back(search.pairs);
    exact += search.is_exact ? 1 : 0;
  }
  return {.expected_pairs = stats::mean(pairs),
          .likely_most = stats::quantile(pairs, 0.9),
          .share_exact = static_cast<double>(exact) / searches};
}

Sandwich judge_sandwich(std::span<const double> parent, std::span<const double> culprit,
                        double change, double gate, const stats::PairSwapPlan& swaps) {
  if (parent.empty() || parent.size() != culprit.size()) {
    return {.remainder = change};
  }
  const auto again = stats::judge_confirmation(
      parent, culprit, change, {.pairs = static_cast<int>(parent.size()), .gate = gate}, swaps);
  const double estimate = again.look.shift.estimate;
  Sandwich sandwich{.look = again.look, .remainder = change - estimate};
  const bool is_there = again.look.p_value <= again.look.alpha && estimate * change > 0;
  if (again.is_confirmed) {
    sandwich.verdict = SandwichVerdict::kConvicted;
  } else if (is_there && std::abs(estimate) >= gate) {
    sandwich.verdict = SandwichVerdict::kPart;
  }
  return sandwich;
}

std::vector<BisectionRange> remaining_ranges(std::size_t commits, std::size_t first,
                                             std::size_t last, double remainder, double gate) {
  std::vector<BisectionRange> ranges;
  if (std::abs(remainder) < gate) {
    return ranges;
  }
  if (first > 0) {
    ranges.push_back({.first = 0, .last = first - 1});
  }
  if (last + 1 < commits) {
    ranges.push_back({.first = last + 1, .last = commits - 1});
  }
  return ranges;
}

}  // namespace assay
