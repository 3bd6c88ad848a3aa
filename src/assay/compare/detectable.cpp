#include "assay/compare/detectable.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/calibration.h"
#include "assay/stats/pair_test.h"
#include "assay/stats/quantile.h"

namespace assay {
namespace {

constexpr int kDraws = 200;
constexpr int kSwaps = 999;  ///< Of each test; its noise is averaged over the draws.
constexpr int kMostPairs = 160;
constexpr int kFewestDetectablePairs = 6;
constexpr double kDetectableAlpha = 0.05;
constexpr double kPower = 0.95;

struct Sample {
  std::vector<double> a;
  std::vector<double> b;
};

Sample draw_blocks(std::span<const double> a, std::span<const double> b, int pairs,
                   std::mt19937_64& random) {
  Sample sample;
  const auto blocks = a.size() / 2;
  while (static_cast<int>(sample.a.size()) < pairs) {
    const auto first = 2 * (random() % blocks);
    for (const auto i : {first, first + 1}) {
      sample.a.push_back(a[i]);
      sample.b.push_back(b[i]);
    }
  }
  return sample;
}

double detectable_ratio(std::span<const double> a, std::span<const double> b, int pairs,
                        std::mt19937_64& random) {
  if (pairs < kFewestDetectablePairs) {
    return -1;
  }
  std::vector<double> arms;
  for (int i = 0; i < kDraws; ++i) {
    const auto sample = draw_blocks(a, b, pairs, random);
    const auto shift = stats::pair_shift(sample.a, sample.b, kDetectableAlpha,
                                         {.seed = random(), .draws = kSwaps, .exact_up_to = 10});
    arms.push_back(std::max(-shift.low, shift.high));
  }
  const double arm = stats::quantile(arms, kPower);
  return std::isfinite(arm) ? std::expm1(arm) : -1;
}

}  // namespace

std::vector<Detectable> find_detectable(std::span<const double> a, std::span<const double> b,
                                        std::int64_t pair_ns,
                                        std::span<const std::int64_t> budgets_ns,
                                        std::uint64_t seed) {
  ASSAY_CHECK(a.size() == b.size() && a.size() >= 2 && pair_ns > 0);
  std::mt19937_64 random(seed);
  std::vector<Detectable> found;
  for (const auto budget_ns : budgets_ns) {
    const auto fitting = std::min<std::int64_t>(budget_ns / pair_ns, kMostPairs);
    const int pairs = static_cast<int>(fitting / 2 * 2);
    const double before = found.empty() ? -1 : found.back().ratio;
    const bool is_known = !found.empty() && found.back().pairs == pairs;
    const double ratio = is_known ? before : detectable_ratio(a, b, pairs, random);
    const bool is_better = before < 0 || (ratio >= 0 && ratio < before);
    found.push_back({.budget_ns = budget_ns, .pairs = pairs, .ratio = is_better ? ratio : before});
  }
  return found;
}

}  // namespace assay
