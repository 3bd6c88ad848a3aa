#include "features/compare/bisection_evidence.h"

#include <cmath>
#include <cstddef>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace assay {
namespace {

std::vector<double> pairs_around(double level, std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(level, 0.02);
  std::vector<double> pairs(count);
  for (auto& pair : pairs) {
    pair = normal(random);
  }
  return pairs;
}

TEST(PairEvidence, IsCalibratedByThePairsOfTheEnds) {
  const auto evidence =
      PairEvidence::calibrate(pairs_around(0, 400, 1), pairs_around(0.05, 400, 2));
  ASSERT_TRUE(evidence.has_value());
  EXPECT_NEAR(evidence->change, 0.05, 0.005);
  // The median size of normal values is 0.6745 standard deviations, of t4 0.7407.
  EXPECT_NEAR(evidence->scale, 0.02 * 0.6745 / 0.7407, 0.003);
  const std::vector<double> equal(5, 1.0);
  EXPECT_FALSE(PairEvidence::calibrate(equal, equal).has_value());
}

TEST(PairEvidence, SpeaksForTheNearerEndAndIsMirrored) {
  const PairEvidence evidence{.change = -0.04, .scale = 0.01};
  const std::vector<double> good = {0, 0.005, -0.003};
  const std::vector<double> bad = {-0.04, -0.045, -0.037};
  EXPECT_LT(evidence.log_ratio(good), -3);
  EXPECT_NEAR(evidence.log_ratio(good), -evidence.log_ratio(bad), 1e-9);
  EXPECT_NEAR(evidence.log_ratio(std::vector<double>{-0.02}), 0, 1e-12);
}

TEST(PairEvidence, LetsNoSinglePairDecide) {
  const PairEvidence evidence{.change = 0.04, .scale = 0.01};
  const double one = evidence.log_ratio(std::vector<double>{5.0});
  EXPECT_LT(std::abs(one), 0.1);
  EXPECT_LT(evidence.log_ratio(std::vector<double>{0.06}), 4);
}

TEST(ForecastBisection, CostsMoreForSmallerChangesAndIsRepeatable) {
  const BisectionPlan plan;
  const auto large = forecast_bisection(256, {.change = 0.05, .scale = 0.019}, plan, 1);
  const auto small = forecast_bisection(256, {.change = 0.02, .scale = 0.019}, plan, 1);
  EXPECT_LT(large.expected_pairs, small.expected_pairs);
  EXPECT_LE(large.expected_pairs, large.likely_most);
  EXPECT_GE(large.share_exact, 0.95);
  EXPECT_EQ(forecast_bisection(256, {.change = 0.05, .scale = 0.019}, plan, 1).expected_pairs,
            large.expected_pairs);
}

TEST(SandwichPairs, AreAsManyAsTheChangeNeeds) {
  const BisectionPlan plan;
  EXPECT_EQ(sandwich_pairs({.change = 0.05, .scale = 0.01}, plan), 20);
  EXPECT_EQ(sandwich_pairs({.change = -0.01, .scale = 0.012}, plan), 25);
  EXPECT_EQ(sandwich_pairs({.change = 0.001, .scale = 0.01}, plan), 80);
}

Sandwich judged(double true_change, double searched, unsigned seed) {
  const auto parent = pairs_around(10, 20, seed);
  auto culprit = pairs_around(10 + true_change, 20, seed + 1000);
  return judge_sandwich(parent, culprit, searched, 0.02, {.seed = seed});
}

TEST(JudgeSandwich, ConvictsPartlyConvictsAndAcquits) {
  EXPECT_EQ(judged(0.1, 0.1, 1).verdict, SandwichVerdict::kConvicted);
  EXPECT_EQ(judged(0.1, 0.4, 2).verdict, SandwichVerdict::kPart);
  EXPECT_NEAR(judged(0.1, 0.4, 2).remainder, 0.3, 0.03);
  EXPECT_EQ(judged(0.0, 0.1, 3).verdict, SandwichVerdict::kAcquitted);
  EXPECT_EQ(judged(-0.1, 0.1, 4).verdict, SandwichVerdict::kAcquitted);
}

TEST(RemainingRanges, LieOnBothSidesOfTheCulprit) {
  const auto ranges = remaining_ranges(10, 4, 5, 0.05, 0.02);
  ASSERT_EQ(ranges.size(), 2U);
  EXPECT_EQ(ranges[0].last, 3U);
  EXPECT_EQ(ranges[1].first, 6U);
  EXPECT_EQ(ranges[1].last, 9U);
  EXPECT_EQ(remaining_ranges(10, 0, 0, -0.05, 0.02).size(), 1U);
  EXPECT_TRUE(remaining_ranges(10, 4, 5, 0.01, 0.02).empty());
}

}  // namespace
}  // namespace assay
