#include "assay/stats/variance_components.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <gtest/gtest.h>
#include <random>
#include <span>
#include <vector>

namespace assay::stats {
namespace {

using Launches = std::vector<std::vector<double>>;

VarianceComponents components_of(const Launches& launches) {
  const std::vector<std::span<const double>> spans(launches.begin(), launches.end());
  return variance_components(spans);
}

Launches logarithms(Launches launches) {
  for (auto& launch : launches) {
    std::ranges::for_each(launch, [](double& value) { value = std::log(value); });
  }
  return launches;
}

Launches simulated(std::size_t launches, std::size_t iterations, double within, double between,
                   std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  Launches result(launches, std::vector<double>(iterations));
  for (auto& launch : result) {
    const double level = 10 + between * normal(random);
    std::ranges::generate(launch, [&] { return level + within * normal(random); });
  }
  return result;
}

// numpy 2.4.6, scipy 1.17.1, g = the logarithms: within = mean of var(ddof=1); between =
// (scipy.stats.f_oneway(*g).statistic - 1) * within / 4
TEST(VarianceComponents, AgreeWithScipysAnalysisOfVariance) {
  const auto found = components_of(
      logarithms({{5.1, 5.3, 5.2, 5.15}, {5.6, 5.5, 5.7, 5.65}, {5.25, 5.2, 5.3, 5.4}}));
  EXPECT_NEAR(found.within, 0.00025384200041067535, 1e-15);
  EXPECT_NEAR(found.between, 0.0016243786977047847, 1e-15);
}

// within = sum(((v - v.mean())**2).sum() for v in g) / (10 - 3); between = var([v.mean() for v in
// g], ddof=1) - within / scipy.stats.hmean([5, 2, 3])
TEST(VarianceComponents, WeighLaunchesOfUnequalLength) {
  const auto found =
      components_of(logarithms({{5.1, 5.3, 5.2, 5.15, 5.05}, {5.6, 5.5}, {5.25, 5.2, 5.3}}));
  EXPECT_NEAR(found.within, 0.00024640325212411533, 1e-15);
  EXPECT_NEAR(found.between, 0.001367235246114388, 1e-15);
}

TEST(VarianceComponents, LaunchesThatDifferLessThanTheirNoiseHaveNoVarianceBetween) {
  const auto found = components_of({{1, 3}, {3, 1}, {2, 2}});
  EXPECT_NEAR(found.within, 4.0 / 3, 1e-15);
  EXPECT_EQ(found.between, 0);
}

TEST(VarianceComponents, AreFreeOfBias) {
  std::mt19937_64 random(1);
  constexpr int kTrials = 400;
  double within = 0;
  double between = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const auto found = components_of(simulated(8, 10, 0.02, 0.03, random));
    within += found.within / kTrials;
    between += found.between / kTrials;
  }
  EXPECT_NEAR(within / (0.02 * 0.02), 1, 0.05);
  EXPECT_NEAR(between / (0.03 * 0.03), 1, 0.12);  // Four standard errors.
}

// 586 JMH benchmarks: 6.7 % within, 1.6 % between; a launch that costs 20 iterations is worth 19.
TEST(OptimalIterations, AgreeWithTheFormula) {
  EXPECT_EQ(optimal_iterations(20, 1, 0.067 * 0.067, 0.016 * 0.016, 1, 1000), 19);
  EXPECT_EQ(optimal_iterations(100, 1, 1, 1, 1, 1000), 10);  // Whole roots are not rounded up.
}

TEST(OptimalIterations, StayWithinTheirBounds) {
  EXPECT_EQ(optimal_iterations(20, 1, 0.067 * 0.067, 0.016 * 0.016), 20);
  EXPECT_EQ(optimal_iterations(1e9, 1e-9, 1, 1e-9), 200);
  EXPECT_EQ(optimal_iterations(20, 1, 0.1, 0), 200);
  EXPECT_EQ(optimal_iterations(20, 1, 0, 0.1), 20);
  EXPECT_EQ(optimal_iterations(20, 1, 0, 0), 20);
  EXPECT_EQ(optimal_iterations(0, 1, 1, 1, 5, 50), 5);
}

// Tests the promise of the formula: among plans of equal cost, its mean varies least.
TEST(OptimalIterations, MinimizeTheVarianceForTheCost) {
  const double within = 0.0045;
  const double between = 0.0003;
  const auto variance_times_cost = [&](int iterations) {
    return (between + within / iterations) * (20 + iterations);
  };
  const int best = optimal_iterations(20, 1, within, between, 1, 1000);
  for (const int other : {best - 3, best + 3}) {
    EXPECT_LT(variance_times_cost(best), variance_times_cost(other));
  }
}

}  // namespace
}  // namespace assay::stats
