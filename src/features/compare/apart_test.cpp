#include "features/compare/apart.h"

#include "features/compare/pairs.h"

#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <random>

#include "assay/record/comparison.h"
#include "assay/record/launch.h"

namespace assay {
namespace {

constexpr double kLeastEffect = 0.02;
constexpr int kTimes = 12;

/// How the times of launches move, as ln.
struct Movement {
  double between = 0;  ///< Standard deviation of the launches' levels.
  double within = 0;   ///< Standard deviation of the levels that a launch has one after another.
};

/// A launch that never becomes steady: each third of it has a level of its own.
Launch moving_launch(int pair, Side side, double ns, const Movement& movement,
                     std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  ns *= std::exp(movement.between * normal(random));
  Launch launch;
  launch.place = PairPlace{.pair = pair, .side = side};
  Measurement measured{.iterations = kTimes};
  double level = 0;
  for (int i = 0; i < kTimes; ++i) {
    level = i % (kTimes / 3) == 0 ? movement.within * normal(random) : level;
    measured.samples.bind_ns.push_back(1);
    measured.samples.execute_ns.push_back(
        std::llround(ns * std::exp(level + 0.01 * normal(random))));
    measured.samples.fetch_ns.push_back(1);
  }
  launch.measurement = measured;
  return launch;
}

Pairs moving_pairs(int count, double ratio, const Movement& movement, std::mt19937_64& random) {
  Pairs pairs;
  for (int pair = 0; pair < count; ++pair) {
    pairs.add(moving_launch(pair, Side::kA, 1e6, movement, random));
    pairs.add(moving_launch(pair, Side::kB, 1e6 * ratio, movement, random));
  }
  return pairs;
}

TEST(Apart, AreSidesThatDifferByMoreThanLaunchesMove) {
  std::mt19937_64 random(7);  // NOLINT(*-msc51-cpp): the same times in each run
  const Movement movement{.between = 0.05, .within = 0.15};
  EXPECT_TRUE(are_apart(moving_pairs(10, 3.27, movement, random), kLeastEffect)) << "slower";
  EXPECT_TRUE(are_apart(moving_pairs(10, 1 / 3.27, movement, random), kLeastEffect)) << "faster";
  EXPECT_FALSE(are_apart(moving_pairs(40, 1.1, movement, random), kLeastEffect))
      << "it may be the mix";
  EXPECT_FALSE(are_apart(moving_pairs(7, 3.27, movement, random), kLeastEffect)) << "too few pairs";
  EXPECT_FALSE(are_apart(moving_pairs(40, 1.015, {}, random), kLeastEffect)) << "below the gate";
  EXPECT_FALSE(are_apart({}, kLeastEffect));
}

TEST(Apart, AreNotTheSidesOfOneProgramWhoseLaunchesNeverBecomeSteady) {
  std::mt19937_64 random(11);  // NOLINT(*-msc51-cpp): the same times in each run
  for (const double between : {0.0, 0.3, 2.0}) {
    for (const double within : {0.0, 0.3}) {
      constexpr int kComparisons = 100;
      int apart = 0;
      for (int i = 0; i < kComparisons; ++i) {
        apart += are_apart(moving_pairs(10, 1, {between, within}, random), kLeastEffect) ? 1 : 0;
      }
      EXPECT_LE(apart, kComparisons / 100) << between << " " << within;
    }
  }
}

}  // namespace
}  // namespace assay
