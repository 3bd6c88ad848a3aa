#include "features/history/step_scan.h"

#include "features/history/rule.h"

#include <cstddef>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace assay::history {
namespace {

/// Counts that are 0 in most points and stay what they are for a while.
std::vector<double> lasting_counts(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> values(count);
  double value = 0;
  for (auto& one : values) {
    const unsigned draw = random() % 100;
    value = value > 0 ? (draw < 20 ? 0 : 1) : (draw < 6 ? 1 : 0);
    one = value;
  }
  return values;
}

TEST(FindSteps, AllowsForTheDependenceOfValuesThatAreMostlyEqual) {
  std::size_t with_steps = 0;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    with_steps += find_steps(lasting_counts(200, seed), {}, 0.01).empty() ? 0 : 1;
  }
  EXPECT_LE(with_steps, 4U) << "the values have no step, and last";
}

TEST(FindSteps, FindsAStepOfValuesThatAreMostlyEqual) {
  std::vector<double> values(60, 0.0);
  for (std::size_t i = 30; i < values.size(); ++i) {
    values[i] = i % 10 == 0 ? 2 : 1;
  }
  const auto steps = find_steps(values, {}, 0.01);
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].first, 30U);
}

}  // namespace
}  // namespace assay::history
