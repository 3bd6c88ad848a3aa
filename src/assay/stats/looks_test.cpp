#include "assay/stats/looks.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <random>
#include <vector>

#include "assay/stats/pair_test.h"

namespace assay::stats {
namespace {

constexpr PairSwapPlan kQuickSwaps{.seed = 3, .draws = 499};

struct NoisyPairs {
  std::vector<double> a;
  std::vector<double> b;
};

NoisyPairs draw_noisy_pairs(std::size_t n, double shift, double noise, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, noise);
  NoisyPairs pairs;
  for (std::size_t pair = 0; pair < n; ++pair) {
    const double common = normal(random);
    pairs.a.push_back(common + normal(random));
    pairs.b.push_back(common + shift + normal(random));
  }
  return pairs;
}

LookResult judged(double shift, double noise, std::size_t look, std::uint64_t seed = 1) {
  const auto [a, b] = draw_noisy_pairs(80, shift, noise, seed);
  return judge_look(a, b, look, {}, {});
}

/// The looks one after the other until one is final.
LookResult run(const NoisyPairs& pairs, const LookPlan& plan = {}) {
  for (std::size_t look = 0;; ++look) {
    const auto result = judge_look(pairs.a, pairs.b, look, plan, kQuickSwaps);
    if (result.is_final) {
      return result;
    }
  }
}

TEST(Looks, AClearChangeIsDecidedAtTheFirstLook) {
  const auto slower = judged(0.05, 0.002, 0);
  EXPECT_EQ(slower.verdict, PairVerdict::kSlower);
  EXPECT_EQ(slower.pairs, 10);
  EXPECT_EQ(slower.alpha, 0.002);
  EXPECT_EQ(slower.p_value, std::ldexp(1.0, -9));
  EXPECT_NEAR(slower.shift.estimate, 0.05, 0.003);
  EXPECT_EQ(slower.shift.confidence, 0.998);
  EXPECT_TRUE(slower.is_final);
  EXPECT_EQ(slower.pairs_needed, 0);
  EXPECT_EQ(judged(-0.05, 0.002, 0).verdict, PairVerdict::kFaster);
}

TEST(Looks, NoChangeUnderLittleNoiseIsEquivalent) {
  const auto same = judged(0, 0.005, 1);
  EXPECT_EQ(same.verdict, PairVerdict::kEquivalent);
  EXPECT_TRUE(same.is_final);
  EXPECT_EQ(same.pairs_needed, 0);
}

TEST(Looks, AChangeBelowTheGateIsNamedButNoRegression) {
  const auto less = judged(0.008, 0.002, 1);
  EXPECT_EQ(less.verdict, PairVerdict::kChangedLess);
  EXPECT_LE(less.p_value, less.alpha);
  EXPECT_GT(less.shift.low, 0);
  EXPECT_EQ(judged(-0.008, 0.002, 1).verdict, PairVerdict::kChangedLess);
}

TEST(Looks, AChangeOfJustTheGateCounts) {
  const std::vector<double> a(10, 0.0);
  EXPECT_EQ(judge_look(a, std::vector(10, 0.03125), 0, {.gate = 0.03125}, {}).verdict,
            PairVerdict::kSlower);
  EXPECT_EQ(judge_look(a, std::vector(10, 0.03125), 0, {.gate = 0.03126}, {}).verdict,
            PairVerdict::kChangedLess);
}

TEST(Looks, EqualTimesAreEquivalent) {
  const std::vector<double> same(10, 3.0);
  const auto result = judge_look(same, same, 0, {}, {});
  EXPECT_EQ(result.verdict, PairVerdict::kEquivalent);
  EXPECT_EQ(result.p_value, 1);
}

TEST(Looks, MuchNoiseIsInconclusiveAndFinalOnlyAtTheLastLook) {
  for (const std::size_t look : {0U, 1U, 2U, 3U}) {
    const auto result = judged(0, 0.3, look);
    EXPECT_EQ(result.verdict, PairVerdict::kInconclusive);
    EXPECT_EQ(result.is_final, look == 3);
    EXPECT_GT(result.pairs_needed, result.pairs);
  }
}

TEST(Looks, OnlyTheFirstPairsAreJudged) {
  auto [a, b] = draw_noisy_pairs(80, 0, 0.01, 4);
  const auto before = judge_look(a, b, 1, {}, {});
  for (std::size_t pair = 20; pair < 80; ++pair) {
    b[pair] += 10;
  }
  const auto after = judge_look(a, b, 1, {}, {});
  EXPECT_EQ(after.verdict, before.verdict);
  EXPECT_EQ(after.p_value, before.p_value);
  EXPECT_EQ(after.shift.high, before.shift.high);
}

// Normal noise: halving the interval takes four times the pairs.
TEST(Looks, TheForecastGrowsWithTheSquareOfTheNoise) {
  auto [a, b] = draw_noisy_pairs(40, 0, 0.1, 5);
  const double estimate = judge_look(a, b, 2, {}, {}).shift.estimate;
  std::ranges::for_each(b, [estimate](double& value) { value -= estimate; });
  const auto once = judge_look(a, b, 2, {}, {});
  std::ranges::for_each(a, [](double& value) { value *= 2; });
  std::ranges::for_each(b, [](double& value) { value *= 2; });
  const auto twice = judge_look(a, b, 2, {}, {});
  ASSERT_EQ(once.verdict, PairVerdict::kInconclusive);
  EXPECT_NEAR(static_cast<double>(twice.pairs_needed) / once.pairs_needed, 4, 0.1);
}

TEST(Looks, SwappingTheSidesMirrorsTheVerdictAndKeepsTheForecast) {
  for (const double change : {0.01, 0.03}) {
    auto [a, b] = draw_noisy_pairs(40, 0, 0.1, 7);
    const double estimate = judge_look(a, b, 2, {}, {}).shift.estimate;
    std::ranges::for_each(b, [=](double& value) { value += change - estimate; });
    const auto there = judge_look(a, b, 2, {}, {});
    const auto back = judge_look(b, a, 2, {}, {});
    ASSERT_EQ(there.verdict, PairVerdict::kInconclusive);
    EXPECT_EQ(back.verdict, PairVerdict::kInconclusive);
    EXPECT_EQ(back.p_value, there.p_value);
    EXPECT_NEAR(back.pairs_needed, there.pairs_needed, 0.01 * there.pairs_needed);
  }
}

TEST(Looks, TheForecastIsAboutRight) {
  int answered = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto [a, b] = draw_noisy_pairs(4000, 0, 0.08, seed);
    LookPlan plan{.pairs = {40, 80}, .alpha = {0.025, 0.025}};
    const auto first = judge_look(a, b, 0, plan, kQuickSwaps);
    ASSERT_EQ(first.verdict, PairVerdict::kInconclusive);
    plan.pairs[1] = std::min(first.pairs_needed, 4000);
    answered +=
        judge_look(a, b, 1, plan, kQuickSwaps).verdict != PairVerdict::kInconclusive ? 1 : 0;
  }
  EXPECT_GE(answered, 10);
}

TEST(Looks, AnUnboundedIntervalAsksForTheNextLook) {
  const auto [a, b] = draw_noisy_pairs(8, 0.1, 0.01, 6);
  const LookPlan plan{.pairs = {4, 8}, .alpha = {0.025, 0.001}};
  EXPECT_EQ(judge_look(a, b, 0, plan, {}).pairs_needed, 8);
  const auto last = judge_look(a, b, 1, plan, {});
  EXPECT_EQ(last.verdict, PairVerdict::kInconclusive);
  EXPECT_EQ(last.pairs_needed, 16);
}

// All four looks together stay within the 5 % that they may spend, and within much less for what is
// called a change, since that must reach the gate too.
TEST(Looks, FalseAlarmsOverAllLooksStayWithinWhatIsSpent) {
  constexpr int kTrials = 200;
  int changed = 0;
  int equivalent = 0;
  for (std::uint64_t seed = 0; seed < kTrials; ++seed) {
    const auto verdict = run(draw_noisy_pairs(80, 0, 0.019 / std::sqrt(2), seed)).verdict;
    changed += verdict == PairVerdict::kSlower || verdict == PairVerdict::kFaster ? 1 : 0;
    equivalent += verdict == PairVerdict::kEquivalent ? 1 : 0;
  }
  EXPECT_LE(changed, 4);
  EXPECT_GE(equivalent, 180);
}

TEST(Looks, TwiceTheGateIsAlwaysFoundUnderThatNoise) {
  int found = 0;
  double pairs = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto result = run(draw_noisy_pairs(80, 0.04, 0.019 / std::sqrt(2), seed));
    found += result.verdict == PairVerdict::kSlower ? 1 : 0;
    pairs += result.pairs / 100.0;
  }
  EXPECT_GE(found, 99);
  EXPECT_LE(pairs, 26);
}

TEST(Looks, ALookBeyondThePlanOrThePairsIsABug) {
  const std::vector<double> ten(10, 1.0);
  EXPECT_DEATH(judge_look(ten, ten, 4, {}, {}), "look <");
  EXPECT_DEATH(judge_look(ten, ten, 1, {}, {}), "pairs <= a.size");
}

/// So many pairs, b above a by `shift` in each.
Confirmation confirmed(int pairs, double shift, double found) {
  const std::vector<double> a(static_cast<std::size_t>(pairs), 1.0);
  const std::vector<double> b(static_cast<std::size_t>(pairs), 1.0 + shift);
  return judge_confirmation(a, b, found, {.pairs = pairs}, kQuickSwaps);
}

TEST(Confirmation, AsksForHalfOfTheChangeInTheSameDirection) {
  EXPECT_TRUE(confirmed(20, 0.0625, 0.125).is_confirmed);
  EXPECT_TRUE(confirmed(20, -0.0625, -0.125).is_confirmed);
  EXPECT_TRUE(confirmed(20, 0.5, 0.125).is_confirmed);
  EXPECT_FALSE(confirmed(20, 0.0625, 0.126).is_confirmed);
  EXPECT_FALSE(confirmed(20, -0.0625, 0.125).is_confirmed);
}

// All b above a: p is 2^(1 - pairs), 0.0156 of seven pairs and 0.031 of six, against 0.02.
TEST(Confirmation, HoldsTwiceItsAlphaAgainstATwoSidedP) {
  EXPECT_TRUE(confirmed(7, 0.0625, 0.0625).is_confirmed);
  EXPECT_FALSE(confirmed(6, 0.0625, 0.0625).is_confirmed);
  EXPECT_EQ(confirmed(7, 0.0625, 0.0625).look.alpha, 0.02);
}

TEST(Confirmation, IsNotFoundInNoise) {
  const auto [a, b] = draw_noisy_pairs(20, 0, 0.1, 8);
  for (const double found : {-1e-6, 1e-6}) {
    EXPECT_FALSE(judge_confirmation(a, b, found, {}, kQuickSwaps).is_confirmed);
  }
}

TEST(Confirmation, IsLookedAtWithHalfTheGate) {
  EXPECT_EQ(confirmed(20, 0.0125, 0.02).look.verdict, PairVerdict::kSlower);
  EXPECT_EQ(confirmed(20, 0.0075, 0.02).look.verdict, PairVerdict::kChangedLess);
}

}  // namespace
}  // namespace assay::stats
