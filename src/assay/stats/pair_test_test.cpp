#include "assay/stats/pair_test.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace assay::stats {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr PairSwapPlan kQuick{.seed = 7, .draws = 499};

struct Pairs {
  std::vector<double> a;
  std::vector<double> b;
};

/// Log times whose halves share half of their noise, one in ten of them disturbed upwards. In steps
/// of 2^-30, so that sums of a few of them are exact.
Pairs noisy_pairs(std::size_t n, double shift, double noise, std::mt19937_64& random) {
  std::normal_distribution<double> normal(0, noise);
  std::exponential_distribution<double> burst(0.1 / noise);
  std::bernoulli_distribution is_disturbed(0.1);
  const auto rounded = [](double value) {
    return std::ldexp(std::nearbyint(std::ldexp(value, 30)), -30);
  };
  Pairs pairs;
  for (std::size_t pair = 0; pair < n; ++pair) {
    const double common = normal(random);
    const auto half = [&] {
      return common + normal(random) + (is_disturbed(random) ? burst(random) : 0);
    };
    pairs.a.push_back(rounded(half()));
    pairs.b.push_back(rounded(half() + shift));
  }
  return pairs;
}

Pairs swapped(Pairs pairs, std::uint64_t mask) {
  for (std::size_t pair = 0; pair < pairs.a.size(); ++pair) {
    if ((mask >> pair & 1U) != 0) {
      std::swap(pairs.a[pair], pairs.b[pair]);
    }
  }
  return pairs;
}

std::vector<double> moved(std::vector<double> values, double by) {
  std::ranges::for_each(values, [by](double& value) { value += by; });
  return values;
}

// numpy 2.4.6, scipy 1.17.1: every swap s in itertools.product([0, 1], repeat=n); statistics
// |rankdata(concatenate([a, b]))[n:].sum() - n * (2 * n + 1) / 2|, |quantile(b, .25) -
// quantile(a, .25)| and |sign(b - a).sum()|; p_k = share of swaps that reach the statistic; the
// share of swaps whose min p_k is at most the observed one.
TEST(PairSwap, AgreesWithAnEnumerationInNumpy) {
  const std::vector<double> a = {1.02, 0.98, 1.10, 1.00, 0.97, 1.05, 1.31, 1.01};
  const std::vector<double> b = {1.06, 1.03, 1.08, 1.07, 1.02, 1.09, 1.36, 1.16};
  EXPECT_EQ(pair_swap_p_value(a, b, {}), 0.0234375);
}

TEST(PairSwap, AgreesWithAnEnumerationInNumpyWhenValuesTie) {
  const std::vector<double> a = {5, 2, 3, 2, 1, 4, 1, 2, 3};
  const std::vector<double> b = {5, 1, 5, 3, 3, 3, 2, 2, 4};
  EXPECT_EQ(pair_swap_p_value(a, b, {}), 0.203125);  // With least ranks for ties: 0.234375.
}

TEST(PairSwap, PairsThatAllGoOneWayGiveTheLeastPossibleValue) {
  std::mt19937_64 random(1);
  for (const std::size_t n : {1U, 2U, 5U, 10U, 13U}) {
    const auto pairs = noisy_pairs(n, 10, 0.1, random);
    EXPECT_EQ(pair_swap_p_value(pairs.a, pairs.b, {}), std::ldexp(1.0, 1 - static_cast<int>(n)));
  }
  const auto pairs = noisy_pairs(40, 10, 0.1, random);
  EXPECT_EQ(pair_swap_p_value(pairs.a, pairs.b, {}), 1.0 / 10000);
}

TEST(PairSwap, EqualSidesGiveOne) {
  const std::vector<double> values = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9};
  EXPECT_EQ(pair_swap_p_value(values, values, {}), 1);
  const auto shift = pair_shift(values, values, 0.05, {});
  EXPECT_EQ(shift.estimate, 0);
  EXPECT_NEAR(shift.low, 0, 1e-7);
  EXPECT_NEAR(shift.high, 0, 1e-7);
}

// The null distribution itself: every assignment of the labels is as likely, and no more than alpha
// of them may have p <= alpha, for every alpha.
TEST(PairSwap, IsValidOverAllAssignmentsOfLabels) {
  std::mt19937_64 random(2);
  for (const std::size_t n : {3U, 6U, 8U}) {
    const auto pairs = noisy_pairs(n, 0.5, 0.5, random);
    std::vector<double> values;
    for (std::uint64_t mask = 0; mask < std::uint64_t{1} << n; ++mask) {
      const auto [a, b] = swapped(pairs, mask);
      values.push_back(pair_swap_p_value(a, b, {}));
    }
    std::ranges::sort(values);
    for (std::size_t rank = 0; rank < values.size(); ++rank) {
      EXPECT_LE(static_cast<double>(rank + 1) / static_cast<double>(values.size()), values[rank]);
    }
  }
}

TEST(PairSwap, RandomSwapsRejectNoMoreThanTheirLevelUnderTheNull) {
  std::mt19937_64 random(3);
  int rejected = 0;
  for (std::uint64_t trial = 0; trial < 1000; ++trial) {
    const auto [a, b] = noisy_pairs(20, 0, 0.02, random);
    rejected += pair_swap_p_value(a, b, {.seed = trial, .draws = 199}) <= 0.05 ? 1 : 0;
  }
  EXPECT_LE(rejected, 77);  // scipy.stats.binom.ppf(0.9999, 1000, 0.05)
  EXPECT_GE(rejected, 20);
}

TEST(PairSwap, RandomSwapsApproachTheExactValue) {
  std::mt19937_64 random(4);
  for (int trial = 0; trial < 5; ++trial) {
    const auto [a, b] = noisy_pairs(12, 0.01, 0.02, random);
    const double exact = pair_swap_p_value(a, b, {});
    const double drawn = pair_swap_p_value(a, b, {.seed = 5, .exact_up_to = 0});
    EXPECT_NEAR(drawn, exact, 5 * std::sqrt(exact / 9999));
  }
}

TEST(PairSwap, IsSymmetricAndBlindToWhatBothSidesShare) {
  std::mt19937_64 random(5);
  for (const std::size_t n : {7U, 13U, 14U, 65U}) {
    const auto [a, b] = noisy_pairs(n, 0.01, 0.02, random);
    const double p = pair_swap_p_value(a, b, kQuick);
    EXPECT_EQ(pair_swap_p_value(b, a, kQuick), p) << n;
    EXPECT_EQ(pair_swap_p_value(moved(a, 8), moved(b, 8), kQuick), p) << n;
    EXPECT_EQ(pair_swap_p_value(a, b, kQuick), p) << n;
  }
}

TEST(PairSwap, IsUnmovedByTheOrderOfThePairsWhenExact) {
  std::mt19937_64 random(6);
  auto [a, b] = noisy_pairs(9, 0.02, 0.02, random);
  const double p = pair_swap_p_value(a, b, {});
  std::ranges::reverse(a);
  std::ranges::reverse(b);
  EXPECT_EQ(pair_swap_p_value(a, b, {}), p);
}

// The design's figures for floors of interleaved pairs (robust sd of a pair's log ratio 1.9 %): +2
// % found in 99 % with 40 pairs at 5 %.
TEST(PairSwap, FindsTwoPercentWithFortyPairs) {
  std::mt19937_64 random(7);
  int found = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const auto [a, b] = noisy_pairs(40, 0.02, 0.019 / std::sqrt(2), random);
    found += pair_swap_p_value(a, b, kQuick) <= 0.05 ? 1 : 0;
  }
  EXPECT_GE(found, 190);
}

// A disturbed top that hides a shift from the mean leaves the floor's quartile clear.
TEST(PairSwap, SeesTheFloorMoveUnderANoisyTop) {
  std::mt19937_64 random(8);
  std::exponential_distribution<double> top(1 / 0.3);
  std::vector<double> a(80);
  std::vector<double> b(80);
  for (std::size_t pair = 0; pair < a.size(); ++pair) {
    a[pair] = pair % 2 == 0 ? top(random) : 0.001 * top(random);
    b[pair] = 0.02 + (pair % 3 == 0 ? top(random) : 0.001 * top(random));
  }
  EXPECT_LE(pair_swap_p_value(a, b, {}), 0.001);
}

TEST(PairShift, ContainsItsEstimateWhichIsTheMedianDifference) {
  std::mt19937_64 random(9);
  for (const std::size_t n : {2U, 9U, 14U, 41U}) {
    const auto [a, b] = noisy_pairs(n, 0.03, 0.02, random);
    const auto shift = pair_shift(a, b, 0.05, kQuick);
    EXPECT_LE(shift.low, shift.estimate);
    EXPECT_GE(shift.high, shift.estimate);
    EXPECT_EQ(shift.confidence, 0.95);
  }
  EXPECT_EQ(pair_shift(std::vector{1.0, 2.0, 3.0}, std::vector{2.0, 4.0, 3.5}, 0.5, {}).estimate,
            1);
}

TEST(PairShift, OfTooFewPairsIsUnbounded) {
  std::mt19937_64 random(10);
  const auto [a, b] = noisy_pairs(5, 0.1, 0.01, random);  // The least p is 2^-4.
  const auto unbounded = pair_shift(a, b, 0.06, {});
  EXPECT_EQ(unbounded.low, -kInfinity);
  EXPECT_EQ(unbounded.high, kInfinity);
  const auto bounded = pair_shift(a, b, 0.07, {});
  EXPECT_GT(bounded.low, 0);
  EXPECT_LT(bounded.high, 0.5);
}

TEST(PairShift, SwappingTheSidesMirrorsIt) {
  std::mt19937_64 random(11);
  for (const std::size_t n : {10U, 30U}) {
    const auto [a, b] = noisy_pairs(n, 0.03, 0.02, random);
    const auto shift = pair_shift(a, b, 0.05, kQuick);
    const auto mirrored = pair_shift(b, a, 0.05, kQuick);
    EXPECT_EQ(mirrored.estimate, -shift.estimate);
    EXPECT_NEAR(mirrored.low, -shift.high, 1e-4);
    EXPECT_NEAR(mirrored.high, -shift.low, 1e-4);
  }
}

TEST(PairShift, FollowsAShiftOfOneSideAndIgnoresOneOfBoth) {
  std::mt19937_64 random(12);
  const auto [a, b] = noisy_pairs(20, 0.03, 0.02, random);
  const auto shift = pair_shift(a, b, 0.05, kQuick);
  const auto both = pair_shift(moved(a, 4), moved(b, 4), 0.05, kQuick);
  EXPECT_EQ(both.estimate, shift.estimate);
  EXPECT_NEAR(both.low, shift.low, 1e-6);
  const auto one = pair_shift(a, moved(b, 0.25), 0.05, kQuick);
  EXPECT_NEAR(one.estimate, shift.estimate + 0.25, 1e-12);
  EXPECT_NEAR(one.low, shift.low + 0.25, 1e-6);
  EXPECT_NEAR(one.high, shift.high + 0.25, 1e-6);
}

TEST(PairShift, EndsWhereTheTestBeginsToReject) {
  std::mt19937_64 random(13);
  for (int trial = 0; trial < 20; ++trial) {
    const auto [a, b] = noisy_pairs(25, 0.01, 0.02, random);
    const auto shift = pair_shift(a, b, 0.05, kQuick);
    EXPECT_LE(pair_swap_p_value(a, moved(b, -shift.low), kQuick), 0.05);
    EXPECT_LE(pair_swap_p_value(a, moved(b, -shift.high), kQuick), 0.05);
    const auto inside = [&](double end) { return -std::lerp(shift.estimate, end, 0.997); };
    EXPECT_GT(pair_swap_p_value(a, moved(b, inside(shift.low)), kQuick), 0.05);
    EXPECT_GT(pair_swap_p_value(a, moved(b, inside(shift.high)), kQuick), 0.05);
  }
}

TEST(PairShift, WidensWithConfidence) {
  std::mt19937_64 random(14);
  const auto [a, b] = noisy_pairs(40, 0.03, 0.02, random);
  const auto narrow = pair_shift(a, b, 0.2, kQuick);
  const auto wide = pair_shift(a, b, 0.01, kQuick);
  EXPECT_LT(wide.low, narrow.low);
  EXPECT_GT(wide.high, narrow.high);
}

TEST(PairShift, HoldsTheTrueShiftAsOftenAsItSays) {
  std::mt19937_64 random(15);
  int held = 0;
  for (std::uint64_t trial = 0; trial < 400; ++trial) {
    const auto [a, b] = noisy_pairs(20, 0.03, 0.02, random);
    const auto shift = pair_shift(a, b, 0.1, {.seed = trial, .draws = 199});
    held += shift.low <= 0.03 && 0.03 <= shift.high ? 1 : 0;
  }
  EXPECT_GE(held, 336);  // scipy.stats.binom.ppf(0.0001, 400, 0.9)
  EXPECT_LE(held, 380);
}

TEST(PairShift, IsRejectedWhereTheTestOfTheMovedPairsIs) {
  constexpr double kAlpha = 0.05;
  std::mt19937_64 random(11);
  int rejected = 0;
  int kept = 0;
  for (const std::size_t pairs : {6U, 9U, 20U, 64U, 70U}) {
    const auto noisy = noisy_pairs(pairs, 0.01, 0.02, random);
    for (int step = -8; step <= 8; ++step) {
      const double theta = std::ldexp(step, -9);  // Sums of these are exact.
      const bool is_rejected = is_shift_rejected(noisy.a, noisy.b, theta, kAlpha, kQuick);
      const double p = pair_swap_p_value(noisy.a, moved(noisy.b, -theta), kQuick);
      EXPECT_EQ(is_rejected, p <= kAlpha) << pairs << " pairs moved by " << theta;
      (is_rejected ? rejected : kept) += 1;
    }
  }
  EXPECT_GT(rejected, 10);
  EXPECT_GT(kept, 10);
}

}  // namespace
}  // namespace assay::stats
