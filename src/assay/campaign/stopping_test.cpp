#include "assay/campaign/stopping.h"

#include <cmath>
#include <cstddef>
#include <gtest/gtest.h>
#include <span>
#include <vector>

#include "assay/record/launch.h"

namespace assay {
namespace {

using Levels = std::vector<double>;

constexpr LaunchPlan kOnePercent{.least = 6, .most = 20, .interval_ratio = 0.01};

/// Alternating around 100 by `spread`.
Levels levels_of(std::size_t count, double spread) {
  Levels levels;
  for (std::size_t i = 0; i < count; ++i) {
    levels.push_back(100 + (i % 2 == 0 ? spread : -spread));
  }
  return levels;
}

TEST(Stopping, WithoutAnIntervalTakesTheFewest) {
  const LaunchPlan fixed{.least = 3, .most = 3};
  EXPECT_FALSE(has_enough_launches(fixed, levels_of(2, 0), 0));
  EXPECT_TRUE(has_enough_launches(fixed, levels_of(3, 50), 0));
}

TEST(Stopping, EndsWhenTheIntervalIsNarrowButNotBeforeTheFewest) {
  EXPECT_FALSE(has_enough_launches(kOnePercent, levels_of(5, 0), 0));
  EXPECT_TRUE(has_enough_launches(kOnePercent, levels_of(6, 0.9), 0));
  EXPECT_FALSE(has_enough_launches(kOnePercent, levels_of(6, 1.1), 0));
}

TEST(Stopping, LooksAtPlannedLaunchesOnly) {
  for (const std::size_t between : {7U, 8U, 10U, 13U}) {
    EXPECT_FALSE(has_enough_launches(kOnePercent, levels_of(between, 0), 0)) << between;
  }
  for (const std::size_t look : {6U, 9U, 14U}) {
    EXPECT_TRUE(has_enough_launches(kOnePercent, levels_of(look, 0), 0)) << look;
  }
}

TEST(Stopping, EndsAtTheMostAndAtTheBudget) {
  EXPECT_FALSE(has_enough_launches(kOnePercent, levels_of(19, 50), 0));
  EXPECT_TRUE(has_enough_launches(kOnePercent, levels_of(20, 50), 0));
  auto limited = kOnePercent;
  limited.budget_ns = 1000;
  EXPECT_FALSE(has_enough_launches(limited, levels_of(7, 50), 999));
  EXPECT_TRUE(has_enough_launches(limited, levels_of(7, 50), 1000));
  EXPECT_FALSE(has_enough_launches(limited, levels_of(5, 50), 1000)) << "the fewest always run";
}

TEST(Stopping, EndsWithTheFewestWhereNoLaunchToldATime) {
  const Levels none(6, level_of({}));
  EXPECT_TRUE(std::isnan(interval_ratio_of(none)));
  EXPECT_FALSE(has_enough_launches(kOnePercent, std::span(none).first(5), 0));
  EXPECT_TRUE(has_enough_launches(kOnePercent, none, 0));
}

TEST(Level, IsTheMedianOfTheSecondHalf) {
  Measurement measurement;
  measurement.samples.execute_ns = {900, 500, 100, 103, 101};
  EXPECT_EQ(level_of(measurement), 101);
  EXPECT_EQ(level_of({}), 0);
}

}  // namespace
}  // namespace assay
