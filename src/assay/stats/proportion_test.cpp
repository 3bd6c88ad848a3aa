#include "assay/stats/proportion.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <vector>

namespace assay::stats {
namespace {

std::vector<double> one_to(std::size_t n) {
  std::vector<double> values(n);
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

struct ExpectedInterval {
  std::int64_t successes;
  std::int64_t trials;
  double confidence;
  double low;
  double high;
};

// scipy 1.17.1: scipy.stats.binomtest(successes, trials).proportion_ci(confidence, 'exact')
TEST(ClopperPearson, AgreesWithScipy) {
  for (const auto& [successes, trials, confidence, low, high] :
       {ExpectedInterval{0, 300, 0.95, 0.0, 0.012220974694296421},
        ExpectedInterval{3, 1000, 0.95, 0.0006190999316499173, 0.008742023238657654},
        ExpectedInterval{7, 20, 0.9, 0.17731091757446915, 0.5580345113154889},
        ExpectedInterval{20, 20, 0.95, 0.8315665290169145, 1.0},
        ExpectedInterval{1, 1, 0.99, 0.0050000000000000044, 1.0},
        ExpectedInterval{499, 500, 0.999, 0.9801816024907353, 0.9999989997504168}}) {
    const auto interval = clopper_pearson(successes, trials, confidence);
    EXPECT_NEAR(interval.low, low, 1e-12) << successes << " of " << trials;
    EXPECT_NEAR(interval.high, high, 1e-12) << successes << " of " << trials;
    EXPECT_EQ(interval.coverage, confidence);
  }
}

// Exact, so no simulation: the binomial weight of the outcomes whose interval holds the truth.
TEST(ClopperPearson, CoversEveryProbabilityAsOftenAsItSays) {
  constexpr std::int64_t kTrials = 25;
  for (double truth = 0.02; truth < 1; truth += 0.02) {
    double weight = std::pow(1 - truth, kTrials);
    double covered = 0;
    for (std::int64_t successes = 0; successes <= kTrials; ++successes) {
      const auto interval = clopper_pearson(successes, kTrials, 0.9);
      covered += interval.low <= truth && truth <= interval.high ? weight : 0;
      weight *= static_cast<double>(kTrials - successes) / static_cast<double>(successes + 1) *
                truth / (1 - truth);
    }
    EXPECT_GE(covered, 0.9 - 1e-12) << truth;
  }
}

TEST(ClopperPearson, FailuresMirrorSuccesses) {
  const auto some = clopper_pearson(4, 30);
  const auto others = clopper_pearson(26, 30);
  EXPECT_NEAR(some.low, 1 - others.high, 1e-12);
  EXPECT_NEAR(some.high, 1 - others.low, 1e-12);
}

struct Bound {
  std::size_t n;
  double q;
  double confidence;
  double rank;
};

// scipy 1.17.1: rank = binom.ppf(confidence, n, q) + 1, infinite when above n
TEST(PercentileBound, AgreesWithScipysBinomial) {
  for (const auto& [n, q, confidence, rank] :
       {Bound{44, 0.9, 0.99, 44}, Bound{63, 0.9, 0.99, 63}, Bound{64, 0.9, 0.99, 63},
        Bound{100, 0.9, 0.99, 97}, Bound{1000, 0.99, 0.99, 998}, Bound{459, 0.99, 0.99, 459},
        Bound{50, 0.5, 0.95, 32}, Bound{1000, 0.99, 0.95, 996}, Bound{20000, 0.999, 0.99, 19991}}) {
    EXPECT_EQ(percentile_bound(one_to(n), q, confidence), rank) << n;
  }
}

TEST(PercentileBound, OfTooFewValuesIsInfinite) {
  EXPECT_TRUE(std::isinf(percentile_bound(one_to(43), 0.9, 0.99)));
  EXPECT_TRUE(std::isinf(percentile_bound(one_to(458), 0.99, 0.99)));
  EXPECT_TRUE(std::isinf(percentile_bound({}, 0.5, 0.5)));
}

TEST(PercentileBound, LiesBelowTheTrueQuantileAsRarelyAsItSays) {
  std::mt19937_64 random(1);
  std::exponential_distribution<double> skewed;
  const double truth = std::log(10.0);  // The 0.9-quantile.
  int below = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<double> values(100);
    std::ranges::generate(values, [&] { return skewed(random); });
    std::ranges::sort(values);
    below += percentile_bound(values, 0.9, 0.95) < truth ? 1 : 0;
  }
  EXPECT_LE(below, 138);  // scipy.stats.binom.ppf(0.9999, 2000, 0.05)
  EXPECT_GE(below, 20);   // The rate of rank 96 is 1 - binom.cdf(95, 100, 0.9) = 2.4 %.
}

}  // namespace
}  // namespace assay::stats
