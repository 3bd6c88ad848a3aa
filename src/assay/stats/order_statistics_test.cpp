#include "assay/stats/order_statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace assay::stats {
namespace {

/// 1, 2, …, n in a shuffled order: an order statistic is its own rank.
std::vector<double> ranks(int n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 1.0);
  std::mt19937_64 random(1);
  std::ranges::shuffle(values, random);
  return values;
}

struct Expected {
  int n;
  double low;
  double high;
  double coverage;
};

// scipy 1.17.1: the largest k with 1 - 2 * binom.cdf(k - 1, n, 0.5) >= 0.95, else k = 1; the same
// ranks as scipy.stats.quantile_test(x, p=0.5).confidence_interval(0.95) for n = 20.
TEST(MedianInterval, AgreesWithScipysBinomial) {
  for (const auto& [n, low, high, coverage] :
       {Expected{1, 1, 1, 0}, Expected{2, 1, 2, 0.5}, Expected{3, 1, 3, 0.75},
        Expected{5, 1, 5, 0.9375}, Expected{6, 1, 6, 0.96875}, Expected{8, 1, 8, 0.9921875},
        Expected{10, 2, 9, 0.978515625}, Expected{20, 6, 15, 0.9586105346679688},
        Expected{41, 14, 28, 0.9724668441704125}}) {
    const auto interval = median_interval(ranks(n));
    EXPECT_EQ(interval.low, low) << n;
    EXPECT_EQ(interval.high, high) << n;
    EXPECT_NEAR(interval.coverage, coverage, 1e-12) << n;
  }
}

// low: largest rank with binom.cdf(low - 1, n, q) <= 0.025; high alike; coverage:
// binom.cdf(high - 1, n, q) - binom.cdf(low - 1, n, q)
TEST(QuantileInterval, AgreesWithScipysBinomial) {
  const auto p90 = quantile_interval(ranks(100), 0.9);
  EXPECT_EQ(p90.low, 84);
  EXPECT_EQ(p90.high, 96);
  EXPECT_NEAR(p90.coverage, 0.955690107191223, 1e-12);
}

TEST(QuantileInterval, SaysSoWhenTooFewValuesLieFarEnoughOut) {
  const auto p99 = quantile_interval(ranks(200), 0.99);
  EXPECT_EQ(p99.low, 195);
  EXPECT_EQ(p99.high, 200);
  EXPECT_NEAR(p99.coverage, 0.8499974182328607, 1e-12);
}

TEST(MedianInterval, WidensWithConfidence) {
  const auto values = ranks(30);
  const auto narrow = median_interval(values, 0.8);
  const auto wide = median_interval(values, 0.99);
  EXPECT_GT(narrow.low, wide.low);
  EXPECT_LT(narrow.high, wide.high);
  EXPECT_GE(narrow.coverage, 0.8);
  EXPECT_GE(wide.coverage, 0.99);
}

TEST(MedianInterval, HoldsTheTrueMedianAsOftenAsItSays) {
  std::mt19937_64 random(3);
  std::lognormal_distribution<double> skewed;  // Median 1.
  constexpr int kTrials = 4000;
  int held = 0;
  double coverage = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> values(10);
    std::ranges::generate(values, [&] { return skewed(random); });
    const auto interval = median_interval(values, 0.9);
    held += interval.low <= 1 && 1 <= interval.high ? 1 : 0;
    coverage = interval.coverage;
  }
  EXPECT_NEAR(held / static_cast<double>(kTrials), coverage, 0.015);
}

// Hettmansperger, Sheather (1986), equation 1, by hand: n = 4 at 75 % lies between coverages 7/8
// and 3/8, so I = 1/4 and lambda = 3 I / (1 + 2 I) = 1/2.
TEST(InterpolatedMedianInterval, LiesBetweenTheExactOnes) {
  const auto four = interpolated_median_interval(ranks(4), 0.75);
  EXPECT_DOUBLE_EQ(four.low, 1.5);
  EXPECT_DOUBLE_EQ(four.high, 3.5);
  EXPECT_EQ(four.coverage, 0.75);
  const auto six = interpolated_median_interval(ranks(6), 0.75);
  EXPECT_DOUBLE_EQ(six.low, 2.125) << "k = 2: I = 1/15, lambda = 1/8";
  EXPECT_DOUBLE_EQ(six.high, 4.875);
}

TEST(InterpolatedMedianInterval, IsTheExactOneWhereThatCoversAsMuchOrLess) {
  for (const auto& [n, coverage] : {std::pair(1, 0.0), {2, 0.5}, {3, 0.75}}) {
    const auto interval = interpolated_median_interval(ranks(n), 0.75);
    EXPECT_EQ(interval.low, 1) << n;
    EXPECT_EQ(interval.high, n) << n;
    EXPECT_EQ(interval.coverage, coverage) << n;
  }
}

TEST(InterpolatedMedianInterval, CoversTheMedianAsOftenAsItSays) {
  std::mt19937_64 random(7);
  std::exponential_distribution<double> skewed(1);
  constexpr int kTrials = 4000;
  for (const int n : {4, 7, 12, 30}) {
    int hits = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<double> values(static_cast<std::size_t>(n));
      std::ranges::generate(values, [&] { return skewed(random); });
      const auto interval = interpolated_median_interval(values, 0.75);
      hits += interval.low <= std::log(2.0) && std::log(2.0) <= interval.high ? 1 : 0;
    }
    // Three standard errors of a share of 4000, 0.02, and 0.01 for a law that is not symmetric.
    EXPECT_NEAR(static_cast<double>(hits) / kTrials, 0.75, 0.03) << n;
  }
}

}  // namespace
}  // namespace assay::stats
