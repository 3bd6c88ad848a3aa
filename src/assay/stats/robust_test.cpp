#include "assay/stats/robust.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <vector>

#include "assay/stats/quantile.h"

namespace assay::stats {
namespace {

const std::vector<double> kRobustTimes = {12.1, 11.9, 15.3, 12.0,  12.4, 30.2,
                                          11.8, 12.2, 12.3, 12.05, 13.7};
const std::vector<double> kOthers = {12.9, 12.7, 12.8, 14.1, 13.05, 12.6, 19.3, 12.75};

// numpy 2.4.6: i, j = triu_indices(len(x)); median((x[i] + x[j]) / 2); median(y[None, :] - x[:,
// None])
TEST(HodgesLehmann, AgreesWithNumpy) {
  EXPECT_NEAR(hodges_lehmann(kRobustTimes), 12.3, 1e-14);
  EXPECT_NEAR(hodges_lehmann_shift(kRobustTimes, kOthers), 0.7, 1e-12);
}

// By hand: the means of 1, 2 and 6 are 1, 1.5, 2, 3.5, 4, 6; without each value
// itself: 1.5, 3.5, 4.
TEST(HodgesLehmann, CountsEachValueWithItself) {
  EXPECT_EQ(hodges_lehmann(std::vector{1.0, 2.0, 6.0}), 2.75);
  EXPECT_EQ(hodges_lehmann(std::vector{7.0}), 7);
}

TEST(HodgesLehmann, FollowsShiftAndScale) {
  auto moved = kRobustTimes;
  std::ranges::for_each(moved, [](double& value) { value = 3 * value + 100; });
  EXPECT_NEAR(hodges_lehmann(moved), 3 * hodges_lehmann(kRobustTimes) + 100, 1e-12);
  auto later = kRobustTimes;
  std::ranges::for_each(later, [](double& value) { value += 2; });
  EXPECT_NEAR(hodges_lehmann_shift(kRobustTimes, later), 2, 1e-12);
}

TEST(HodgesLehmann, ShiftTurnsItsSignWithTheSides) {
  EXPECT_EQ(hodges_lehmann_shift(kOthers, kRobustTimes),
            -hodges_lehmann_shift(kRobustTimes, kOthers));
}

TEST(HodgesLehmann, IsTighterThanTheMedianUnderNormalNoise) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  double of_center = 0;
  double of_median = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    std::vector<double> values(40);
    std::ranges::generate(values, [&] { return normal(random); });
    of_center += hodges_lehmann(values) * hodges_lehmann(values);
    of_median += median(values) * median(values);
  }
  EXPECT_LT(of_center, 0.8 * of_median);  // 0.64 / 0.95 for many values.
}

TEST(HodgesLehmann, ShrugsOffAQuarterOfWildValues) {
  std::vector<double> values(40, 5.0);
  std::fill_n(values.begin(), 10, 1e9);
  EXPECT_EQ(hodges_lehmann(values), 5);
}

}  // namespace
}  // namespace assay::stats
