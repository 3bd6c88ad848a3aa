#include "assay/stats/trend.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace assay::stats {
namespace {

/// numpy: i = arange(60); 100 + 0.5 i + 8 sin(0.7 i^2)
std::vector<double> wavy_line() {
  std::vector<double> values(60);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto x = static_cast<double>(i);
    values[i] = 100 + 0.5 * x + 8 * std::sin(x * x * 0.7);
  }
  return values;
}

// scipy 1.17.1: scipy.stats.theilslopes(y, alpha=0.95) gives 0.4562262, 0.3500191 to 0.5320986,
// whose ends are slopes of rank 731 of 1770; the exact distribution gives rank 732.
TEST(Trend, AgreesWithScipy) {
  const auto trend = theil_sen_trend(wavy_line());
  EXPECT_NEAR(trend.slope, 0.4562262027849437, 1e-12);
  EXPECT_NEAR(trend.low, 0.3500190612901021, 2e-3);
  EXPECT_NEAR(trend.high, 0.5320986293565577, 2e-3);
  EXPECT_GE(trend.low, 0.3500190612901021 - 1e-12);
  EXPECT_LE(trend.high, 0.5320986293565577 + 1e-12);
  EXPECT_NEAR(trend.confidence, 0.9500685163076757, 1e-12);
  EXPECT_EQ(trend.count, 60U);
}

// scipy: theilslopes gives 0.025, -0.2 to 0.243 with the normal distribution.
TEST(Trend, OfFewValuesIsBoundedByTheExactDistribution) {
  const std::vector<double> times = {12.1, 11.9, 15.3, 12.0,  12.4, 30.2,
                                     11.8, 12.2, 12.3, 12.05, 13.7};
  const auto trend = theil_sen_trend(times);
  EXPECT_NEAR(trend.slope, 0.025, 1e-12);
  EXPECT_NEAR(trend.confidence, 0.9594676426968094, 1e-12);
  EXPECT_LT(trend.low, trend.slope);
  EXPECT_GT(trend.high, trend.slope);
}

TEST(Trend, CoversAsOftenAsItSays) {
  std::vector<double> values = {1, 2, 3, 4, 5, 6};
  int orders = 0;
  int covered = 0;
  double confidence = 0;
  do {
    const auto trend = theil_sen_trend(values, 0.9);
    confidence = trend.confidence;
    covered += trend.low <= 0 && trend.high >= 0 ? 1 : 0;
    ++orders;
  } while (std::next_permutation(values.begin(), values.end()));
  EXPECT_EQ(orders, 720);
  EXPECT_NEAR(static_cast<double>(covered) / orders, confidence, 1e-12);
  EXPECT_GE(confidence, 0.9);
}

TEST(Trend, IsUnboundedWithTooFewValues) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto four = theil_sen_trend(std::vector<double>{1, 2, 3, 4});
  EXPECT_EQ(four.slope, 1);
  EXPECT_EQ(four.low, -kInfinity);
  EXPECT_EQ(four.high, kInfinity);
  EXPECT_EQ(theil_sen_trend(std::vector<double>{1, 2, 3, 4, 5}).low, 1);
}

TEST(Trend, OfALevelIsZeroHoweverOneStepDisturbsIt) {
  std::vector<double> values(40, 7.0);
  values[0] = 0;
  values[25] = 1e6;
  const auto trend = theil_sen_trend(values);
  EXPECT_EQ(trend.slope, 0);
  EXPECT_EQ(trend.low, 0);
  EXPECT_EQ(trend.high, 0);
}

TEST(Trend, KeepsItsUnitWhenThinned) {
  std::vector<double> values(1234);
  std::iota(values.begin(), values.end(), 5.0);
  const auto trend = theil_sen_trend(values);
  EXPECT_EQ(trend.slope, 1);
  EXPECT_EQ(trend.low, 1);
  EXPECT_EQ(trend.count, 309U);
}

}  // namespace
}  // namespace assay::stats
