#include "assay/stats/steady_state.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace assay::stats {
namespace {

/// `n` values around `level` with a relative noise of 0.5 %.
std::vector<double> noisy(std::size_t n, double level, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(level, 0.005 * level);
  std::vector<double> values(n);
  for (auto& value : values) {
    value = normal(random);
  }
  return values;
}

std::vector<double> joined(std::vector<double> a, const std::vector<double>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(SteadyState, ASeriesWithoutWarmupIsSteadyFromItsStart) {
  const auto state = find_steady_state(noisy(60, 100));
  EXPECT_EQ(state.verdict, SteadyVerdict::kSteady);
  EXPECT_EQ(state.first_iteration, 0U);
  EXPECT_EQ(state.block, 5U);
  EXPECT_NEAR(state.level, 100, 1);
}

TEST(SteadyState, LeavesTheWarmupOut) {
  const auto state = find_steady_state(joined(noisy(13, 150), noisy(47, 100)));
  EXPECT_EQ(state.verdict, SteadyVerdict::kSteady);
  EXPECT_EQ(state.first_iteration, 15U);  // A block of mostly slow ones goes whole.
}

TEST(SteadyState, ARemainderFallsToTheWarmup) {
  const auto state = find_steady_state(noisy(63, 100));
  EXPECT_EQ(state.verdict, SteadyVerdict::kSteady);
  EXPECT_EQ(state.first_iteration, 3U);
}

TEST(SteadyState, AStepAfterHalfIsUnsteady) {
  const auto state = find_steady_state(joined(noisy(40, 150), noisy(20, 100)));
  EXPECT_EQ(state.verdict, SteadyVerdict::kUnsteady);
  EXPECT_EQ(state.first_iteration, 60U);
}

TEST(SteadyState, ThrottlingIsUnsteady) {
  auto values = noisy(120, 100);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] *= 1 + 0.003 * static_cast<double>(i);
  }
  EXPECT_EQ(find_steady_state(values).verdict, SteadyVerdict::kUnsteady);
}

TEST(SteadyState, SlowCyclesAreUnsteady) {
  auto values = noisy(120, 100);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] *= i / 20 % 2 == 0 ? 1.0 : 1.2;
  }
  EXPECT_EQ(find_steady_state(values).verdict, SteadyVerdict::kUnsteady);
}

TEST(SteadyState, SingleOutliersDoNotMatter) {
  auto values = noisy(60, 100);
  for (std::size_t i = 3; i < values.size(); i += 10) {
    values[i] = 1000;
  }
  const auto state = find_steady_state(values);
  EXPECT_EQ(state.verdict, SteadyVerdict::kSteady);
  EXPECT_NEAR(state.level, 100, 1);
}

TEST(SteadyState, ANoisyBlockIsJudgedByItsOwnSpread) {
  // Medians of the blocks lie 5 % apart, with a spread of 20 % inside each.
  std::vector<double> values;
  for (int block = 0; block < 12; ++block) {
    const double center = block % 2 == 0 ? 100 : 105;
    for (const double offset : {-40.0, -20.0, 0.0, 20.0, 40.0}) {
      values.push_back(center + offset);
    }
  }
  EXPECT_EQ(find_steady_state(values).verdict, SteadyVerdict::kSteady);
  const SteadyRule strict{.mad_factor = 0};
  EXPECT_EQ(find_steady_state(values, strict).verdict, SteadyVerdict::kUnsteady);
}

TEST(SteadyState, OfTooFewValuesSaysSo) {
  EXPECT_EQ(find_steady_state({}).verdict, SteadyVerdict::kTooFew);
  const auto state = find_steady_state(noisy(14, 100));
  EXPECT_EQ(state.verdict, SteadyVerdict::kTooFew);
  EXPECT_NEAR(state.level, 100, 1);
  EXPECT_EQ(find_steady_state(noisy(15, 100)).verdict, SteadyVerdict::kSteady);
}

TEST(SteadyState, BlocksGrowWithTheSeries) {
  EXPECT_EQ(find_steady_state(noisy(1200, 100)).block, 20U);
}

TEST(SteadyState, DoesNotDependOnTheUnit) {
  const auto values = joined(noisy(20, 130), noisy(60, 100));
  auto scaled = values;
  for (auto& value : scaled) {
    value *= 1e6;
  }
  EXPECT_EQ(find_steady_state(values).first_iteration, find_steady_state(scaled).first_iteration);
}

TEST(SteadyState, RarelyRefusesPureNoiseAndKeepsItsLevel) {
  int steady = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto state = find_steady_state(noisy(60, 100, seed));
    steady += state.verdict == SteadyVerdict::kSteady ? 1 : 0;
    EXPECT_NEAR(state.level, 100, 1);
  }
  EXPECT_GE(steady, 190);
}

}  // namespace
}  // namespace assay::stats
