#include "assay/stats/quantile.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace assay::stats {
namespace {

const std::vector<double> kTimes = {12.1, 11.9, 15.3, 12.0,  12.4, 30.2,
                                    11.8, 12.2, 12.3, 12.05, 13.7};

// numpy 2.4.6, scipy 1.17.1: numpy.quantile(x, q), numpy.median, x.mean(),
// scipy.stats.median_abs_deviation(x)
TEST(Quantiles, AgreeWithNumpy) {
  EXPECT_NEAR(quantile(kTimes, 0.25), 12.025, 1e-14);
  EXPECT_NEAR(quantile(kTimes, 0.9), 15.3, 1e-14);
  EXPECT_EQ(median(kTimes), 12.2);
  EXPECT_NEAR(mean(kTimes), 14.177272727272726, 1e-14);
  EXPECT_NEAR(median_absolute_deviation(kTimes), 0.2, 1e-14);
  EXPECT_NEAR(robust_sigma(kTimes), 0.2 * 1.4826022185056018, 1e-14);
}

TEST(Quantiles, OfFewValuesAreDefined) {
  const std::vector<double> one = {7};
  EXPECT_EQ(median(one), 7);
  EXPECT_EQ(quantile(one, 0.99), 7);
  EXPECT_EQ(robust_sigma(one), 0);
  const std::vector<double> two = {3, 1};
  EXPECT_EQ(median(two), 2);
  EXPECT_EQ(quantile(two, 0), 1);
  EXPECT_EQ(quantile(two, 1), 3);
}

TEST(Quantiles, AreMonotoneAndFollowShiftAndScale) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  for (const std::size_t n : {1U, 2U, 5U, 50U}) {
    std::vector<double> values(n);
    std::ranges::generate(values, [&] { return normal(random); });
    std::vector<double> moved(n);
    std::ranges::transform(values, moved.begin(), [](double x) { return 3 * x + 100; });
    double last = *std::ranges::min_element(values);
    for (double q = 0; q <= 1; q += 0.05) {
      const double here = quantile(values, q);
      EXPECT_GE(here, last);
      EXPECT_NEAR(quantile(moved, q), 3 * here + 100, 1e-12);
      last = here;
    }
    EXPECT_NEAR(robust_sigma(moved), 3 * robust_sigma(values), 1e-12);
    EXPECT_NEAR(mean(moved), 3 * mean(values) + 100, 1e-12);
  }
}

TEST(RobustSigma, EstimatesTheStandardDeviationAndShrugsOffOutliers) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal(50, 4);
  std::vector<double> values(4000);
  std::ranges::generate(values, [&] { return normal(random); });
  EXPECT_NEAR(robust_sigma(values), 4, 0.3);
  std::fill_n(values.begin(), 200, 1e9);
  EXPECT_NEAR(robust_sigma(values), 4, 0.6);
}

TEST(Mean, LosesNothingOfASmallSpreadOnALargeValue) {
  const std::vector<double> values = {1e15 + 1, 1e15 + 2, 1e15 + 3};
  EXPECT_EQ(mean(values), 1e15 + 2);
}

}  // namespace
}  // namespace assay::stats
