#include "assay/stats/rank_sum.h"

#include <cmath>
#include <cstddef>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace assay::stats {
namespace {

using Values = std::vector<double>;

const Values kA = {0.12, 0.35, 0.29, 0.41, 0.38};
const Values kB = {0.44, 0.52, 0.31, 0.61, 0.55, 0.48};

// scipy.stats.mannwhitneyu(b, a, method="exact").pvalue
TEST(RankSum, AgreesWithScipyWithoutTies) {
  EXPECT_NEAR(rank_sum_p_value(kA, kB), 0.030303030303030304, 1e-12);
  EXPECT_NEAR(rank_sum_p_value(Values{1.1, 2.2, 3.3}, Values{4.4, 5.5, 6.6}), 0.1, 1e-12);
}

// scipy.stats.permutation_test of the absolute distance of the midrank sum from its mean, exact.
TEST(RankSum, AgreesWithScipyWithTies) {
  EXPECT_NEAR(rank_sum_p_value(Values{1, 2, 2, 3, 5}, Values{2, 3, 3, 4, 6, 6}),
              0.16883116883116883, 1e-12);
}

TEST(RankSum, IsTheSameFromBothSidesAndOfAnyMonotoneScale) {
  Values logs_a;
  Values logs_b;
  for (const double x : kA) {
    logs_a.push_back(std::log(x));
  }
  for (const double x : kB) {
    logs_b.push_back(std::log(x));
  }
  EXPECT_DOUBLE_EQ(rank_sum_p_value(kA, kB), rank_sum_p_value(kB, kA));
  EXPECT_DOUBLE_EQ(rank_sum_p_value(kA, kB), rank_sum_p_value(logs_a, logs_b));
}

TEST(RankSum, KnowsNothingOfEqualValues) {
  EXPECT_DOUBLE_EQ(rank_sum_p_value(Values{2, 2}, Values{2, 2, 2}), 1);
  EXPECT_DOUBLE_EQ(rank_sum_p_value(Values{1}, Values{2}), 1);
}

// The 4th and the 27th of the 30 differences, as P(U <= 3) = 0.0152 and P(U <= 4) = 0.026 (scipy).
TEST(UnpairedShift, HasTheIntervalOfTheExactTest) {
  const auto shift = unpaired_shift(kA, kB, 0.05);
  EXPECT_NEAR(shift.low, 0.02, 1e-12);
  EXPECT_NEAR(shift.high, 0.36, 1e-12);
  EXPECT_NEAR(shift.confidence, 1 - 2 * 0.015151515151515152, 1e-12);
}

TEST(UnpairedShift, BoundsNothingWithThreeAgainstThree) {
  const auto shift = unpaired_shift(Values{1, 2, 3}, Values{2, 3, 4}, 0.05);
  EXPECT_DOUBLE_EQ(shift.estimate, 1);
  EXPECT_TRUE(std::isinf(shift.low) && std::isinf(shift.high));
  EXPECT_EQ(shift.confidence, 1);
}

TEST(UnpairedShift, ExcludesExactlyTheShiftsThatTheTestRejects) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 50; ++trial) {
    Values a(6);
    Values b(7);
    for (auto* values : {&a, &b}) {
      for (auto& value : *values) {
        value = normal(random);
      }
    }
    const auto shift = unpaired_shift(a, b, 0.05);
    for (const double theta : {-2.0, -0.5, 0.0, 0.3, 1.7}) {
      Values moved = b;
      for (auto& value : moved) {
        value -= theta;
      }
      const bool is_inside = shift.low < theta && theta < shift.high;
      EXPECT_EQ(rank_sum_p_value(a, moved) > 0.05, is_inside) << theta;
    }
  }
}

}  // namespace
}  // namespace assay::stats
