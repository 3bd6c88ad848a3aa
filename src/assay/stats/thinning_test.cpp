#include "assay/stats/thinning.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <span>
#include <vector>

#include "assay/stats/quantile.h"

namespace assay::stats {
namespace {

std::vector<double> noise(std::size_t count) {
  std::mt19937_64 random(3);
  std::lognormal_distribution<double> law;
  std::vector<double> values(count);
  std::ranges::generate(values, [&] { return law(random); });
  return values;
}

TEST(Thinning, LeavesAShortSeriesAsItIs) {
  EXPECT_THAT(thinned(std::vector<double>{3, 1, 2}, 3), testing::ElementsAre(0, 1, 2));
  EXPECT_TRUE(thinned({}, 10).empty());
}

TEST(Thinning, KeepsTheFirstTheLastAndEveryExtreme) {
  auto values = noise(100'000);
  values[77'777] = 1e9;
  values[12'345] = -5;
  const auto drawn = thinned(values, 500);
  EXPECT_EQ(drawn.front(), 0U);
  EXPECT_EQ(drawn.back(), values.size() - 1);
  EXPECT_TRUE(std::ranges::binary_search(drawn, 77'777U));
  EXPECT_TRUE(std::ranges::binary_search(drawn, 12'345U));
}

TEST(Thinning, KeepsNoMoreThanAskedForInOrderAndEachOnce) {
  const auto values = noise(10'001);
  for (const std::size_t most : {0U, 1U, 7U, 8U, 50U, 2000U, 10'000U}) {
    const auto drawn = thinned(values, most);
    EXPECT_LE(drawn.size(), std::max<std::size_t>(most, 7)) << most;
    EXPECT_TRUE(std::ranges::is_sorted(drawn, std::less_equal<>())) << most;
  }
  EXPECT_LE(thinned(std::vector<double>(10'000, 5.0), 100).size(), 100U) << "all values are equal";
}

TEST(Thinning, KeepsTheMedianOfEachStretch) {
  // The level doubles in the middle; either half of what is drawn has the level of its half.
  auto values = noise(20'000);
  for (std::size_t i = values.size() / 2; i < values.size(); ++i) {
    values[i] += 100;
  }
  std::vector<double> before;
  std::vector<double> after;
  for (const auto i : thinned(values, 1000)) {
    (i < values.size() / 2 ? before : after).push_back(values[i]);
  }
  const std::span<const double> all(values);
  // One hundred block medians of a lognormal law with median 1 lie within 0.05 of it.
  EXPECT_NEAR(median(before), median(all.first(values.size() / 2)), 0.05);
  EXPECT_NEAR(median(after), median(all.subspan(values.size() / 2)), 0.05);
}

}  // namespace
}  // namespace assay::stats
