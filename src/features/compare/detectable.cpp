#include "features/compare/detectable.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/calibration.h"
#include "assay/stats/pair_test.h"

namespace assay {
namespace {

constexpr int kDraws = 200;
constexpr int kSwaps = 999;  ///< Swaps of each test; its noise is averaged over the draws.
constexpr int kFewestDetectablePairs = 6;
constexpr double kDetectableAlpha = 0.05;
constexpr double kPower = 0.95;
constexpr double kTolerance = 0.005;       ///< Draws of 200 samples tell the answer to 4 %.
constexpr double kLeastDifference = 1e-7;  ///< No clock tells less.

struct Sample {
  std::vector<double> a;
  std::vector<double> b;
  std::uint64_t seed = 0;  ///< Seed of its test's swaps.
};

/// Draws blocks of two pairs, with the sides of each pair as chance has them: both are one program,
/// and what its few pairs differ by in sum is no difference that a larger sample would confirm.
Sample draw_blocks(std::span<const double> a, std::span<const double> b, int pairs,
                   std::mt19937_64& random) {
  Sample sample;
  const auto blocks = a.size() / 2;
  while (static_cast<int>(sample.a.size()) < pairs) {
    const auto first = 2 * (random() % blocks);
    for (const auto i : {first, first + 1}) {
      const bool is_swapped = random() % 2 != 0;
      sample.a.push_back(is_swapped ? b[i] : a[i]);
      sample.b.push_back(is_swapped ? a[i] : b[i]);
    }
  }
  sample.seed = random();
  return sample;
}

stats::PairSwapPlan swaps_of(const Sample& sample) {
  return {.seed = sample.seed, .draws = kSwaps, .exact_up_to = 10};
}

/// True if the test of the sample finds a difference of this size, in either direction.
bool is_found(const Sample& sample, double difference) {
  return stats::is_shift_rejected(sample.a, sample.b, difference, kDetectableAlpha,
                                  swaps_of(sample)) &&
         stats::is_shift_rejected(sample.a, sample.b, -difference, kDetectableAlpha,
                                  swaps_of(sample));
}

/// The longer arm of one sample's interval, which tells the size of what the search is about.
double arm_of(const Sample& sample) {
  const auto shift = stats::pair_shift(sample.a, sample.b, kDetectableAlpha, swaps_of(sample));
  return std::max(-shift.low, shift.high);
}

/// Brackets the least difference that all but a few samples find. What a sample finds, it finds
/// when larger, too: each step leaves only those samples undecided of which the bracket does not
/// tell yet, so that there are few tests.
class DifferenceSearch {
 public:
  explicit DifferenceSearch(std::vector<Sample> samples)
      : undecided_(std::move(samples)),
        most_missed_(static_cast<std::size_t>((1 - kPower) * static_cast<double>(kDraws))) {}

  double find(double start) {
    low_ = 0;
    high_ = std::numeric_limits<double>::infinity();
    const auto is_wide = [this] {
      return std::isinf(high_) || high_ - low_ > std::max(kTolerance * high_, kLeastDifference);
    };
    for (double next = start; is_wide();) {
      look_at(next);
      next = std::isinf(high_) ? 2 * low_ : std::midpoint(low_, high_);
    }
    return high_;
  }

 private:
  void look_at(double difference) {
    const auto missed = std::ranges::partition(
        undecided_, [&](const Sample& sample) { return is_found(sample, difference); });
    const auto count = missed_ + missed.size();
    if (count <= most_missed_) {
      high_ = difference;
      missed_ = count;  // Missed at any smaller one.
      undecided_.erase(missed.begin(), missed.end());
    } else {
      low_ = difference;
      undecided_.erase(undecided_.begin(), missed.begin());
    }
  }

  std::vector<Sample> undecided_;
  std::size_t most_missed_;
  std::size_t missed_ = 0;
  double low_ = 0;
  double high_ = 0;
};

double detectable_ratio(std::span<const double> a, std::span<const double> b, int pairs,
                        std::mt19937_64& random) {
  if (pairs < kFewestDetectablePairs) {
    return -1;
  }
  std::vector<Sample> samples;
  samples.reserve(kDraws);
  for (int i = 0; i < kDraws; ++i) {
    samples.push_back(draw_blocks(a, b, pairs, random));
  }
  const double start = arm_of(samples.front());
  return std::isfinite(start) ? std::expm1(DifferenceSearch(std::move(samples)).find(start)) : -1;
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
    const auto fitting = std::min<std::int64_t>(budget_ns / pair_ns, kMostDrawnPairs);
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
