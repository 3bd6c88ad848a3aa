#include "features/history/spikes.h"

#include <algorithm>
#include <cstddef>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace assay::history {
namespace {

using Flags = std::vector<bool>;
using Values = std::vector<double>;

Values noisy(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Values values(count);
  for (auto& value : values) {
    value = normal(random);
  }
  return values;
}

std::size_t count_of(const Flags& flags) {
  return static_cast<std::size_t>(std::ranges::count(flags, true));
}

TEST(NoiseOfDifferences, IsTheStandardDeviationWhateverTheLevels) {
  auto values = noisy(2000, 1);
  EXPECT_NEAR(noise_of_differences(values), 1, 0.1);
  for (std::size_t i = 500; i < 1500; ++i) {
    values[i] += 100;
  }
  values[700] = 1e9;
  EXPECT_NEAR(noise_of_differences(values), 1, 0.1);
  EXPECT_EQ(noise_of_differences(Values{1}), 0);
}

TEST(FindSpikes, SetsSinglePointsAside) {
  auto values = noisy(100, 2);
  values[30] += 12;
  values[61] -= 12;
  const auto spikes = find_spikes(values, 4, 200);
  EXPECT_TRUE(spikes[30] && spikes[61]);
  EXPECT_LE(count_of(spikes), 3U);
}

TEST(FindSpikes, KeepsANewLevelAndWhatIsNotKnownYet) {
  auto values = noisy(100, 3);
  for (std::size_t i = 50; i < values.size(); ++i) {
    values[i] += 15;
  }
  values.back() += 30;
  const auto spikes = find_spikes(values, 4, 200);
  EXPECT_FALSE(spikes[49] || spikes[50] || spikes[51] || spikes.back());
}

TEST(FindSpikes, MeasuresTheNoiseWhereThePointLies) {
  auto values = noisy(400, 4);
  for (std::size_t i = 200; i < values.size(); ++i) {
    values[i] *= 20;
  }
  values[100] += 12;
  const auto spikes = find_spikes(values, 4, 200);
  EXPECT_TRUE(spikes[100]);
  EXPECT_LE(count_of(spikes), 4U);
}

TEST(FindSpikes, KeepsHonestPointsBesideEqualOnes) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> within(0, 0.1);
  for (const std::size_t noisy_points : {20U, 29U, 31U, 40U}) {
    Values values(60, -6);
    for (std::size_t i = 0; i < noisy_points; ++i) {
      values[i] = -5 + within(random);
    }
    EXPECT_EQ(count_of(find_spikes(values, 4, 200)), 0U) << noisy_points;
    values[50] = -5;
    EXPECT_TRUE(find_spikes(values, 4, 200)[50]) << noisy_points;
  }
  Values level(60, 100);
  level[30] = 101;
  EXPECT_TRUE(find_spikes(level, 4, 200)[30]);
}

TEST(FindSpikes, TakesAnyLength) {
  EXPECT_TRUE(find_spikes({}, 4, 200).empty());
  EXPECT_EQ(find_spikes(Values{1, 2}, 4, 200), (Flags{false, false}));
}

}  // namespace
}  // namespace assay::history
