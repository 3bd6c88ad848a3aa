#include "assay/stats/series.h"

#include <cmath>
#include <cstddef>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace assay::stats {
namespace {

const std::vector<double> kSeriesTimes = {12.1, 11.9, 15.3, 12.0,  12.4, 30.2,
                                          11.8, 12.2, 12.3, 12.05, 13.7};

// scipy 1.17.1: scipy.stats.theilslopes(x).slope
TEST(TheilSen, AgreesWithScipy) { EXPECT_NEAR(theil_sen_slope(kSeriesTimes), 0.025, 1e-12); }

TEST(TheilSen, FindsALineThroughOutliers) {
  std::vector<double> values(100);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = i % 7 == 0 ? 1e6 : 5 + 0.25 * static_cast<double>(i);
  }
  EXPECT_NEAR(theil_sen_slope(values), 0.25, 1e-9);
}

TEST(TheilSen, KeepsItsUnitWhenThinned) {
  std::vector<double> values(5003);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = 2.0 * static_cast<double>(i);
  }
  EXPECT_NEAR(theil_sen_slope(values), 2, 1e-12);
}

TEST(TheilSen, OfTooFewValuesIsZero) {
  EXPECT_EQ(theil_sen_slope({}), 0);
  EXPECT_EQ(theil_sen_slope(std::vector<double>{3}), 0);
}

// numpy: c = x - x.mean(); (c[1:] * c[:-1]).sum() / (c**2).sum()
TEST(Autocorrelation, AgreesWithNumpy) {
  EXPECT_NEAR(lag1_autocorrelation(kSeriesTimes), -0.16897195060546732, 1e-14);
}

TEST(Autocorrelation, TellsDriftAlternationAndNoiseApart) {
  std::vector<double> drift(200);
  std::vector<double> alternating(200);
  std::vector<double> noise(200);
  std::mt19937_64 random(4);
  std::normal_distribution<double> normal;
  for (std::size_t i = 0; i < drift.size(); ++i) {
    drift[i] = static_cast<double>(i);
    alternating[i] = i % 2 == 0 ? 1 : 2;
    noise[i] = normal(random);
  }
  EXPECT_GT(lag1_autocorrelation(drift), 0.9);
  EXPECT_LT(lag1_autocorrelation(alternating), -0.9);
  EXPECT_LT(std::abs(lag1_autocorrelation(noise)), 0.2);
  EXPECT_EQ(lag1_autocorrelation(std::vector<double>(10, 3.0)), 0);
}

}  // namespace
}  // namespace assay::stats
