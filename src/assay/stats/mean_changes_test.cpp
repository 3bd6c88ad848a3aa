#include "assay/stats/mean_changes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace assay::stats {
namespace {

using Changes = std::vector<std::size_t>;
using Values = std::vector<double>;

Values normal_values(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Values values(count);
  for (auto& value : values) {
    value = normal(random);
  }
  return values;
}

double cost_of(const Values& values, const Changes& changes, double penalty) {
  double cost = penalty * static_cast<double>(changes.size());
  std::size_t first = 0;
  for (std::size_t part = 0; part <= changes.size(); ++part) {
    const std::size_t end = part == changes.size() ? values.size() : changes[part];
    double sum = 0;
    for (std::size_t i = first; i < end; ++i) {
      sum += values[i];
    }
    const double mean = sum / static_cast<double>(end - first);
    for (std::size_t i = first; i < end; ++i) {
      cost += (values[i] - mean) * (values[i] - mean);
    }
    first = end;
  }
  return cost;
}

/// The least cost over all ways to split the values from `first` on.
double least_cost(const Values& values, Changes& changes, std::size_t first, double penalty,
                  std::size_t min_segment) {
  double least = cost_of(values, changes, penalty);
  for (std::size_t at = first + min_segment; at + min_segment <= values.size(); ++at) {
    changes.push_back(at);
    least = std::min(least, least_cost(values, changes, at, penalty, min_segment));
    changes.pop_back();
  }
  return least;
}

TEST(MeanChanges, AreTheBestOfAllSplits) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const auto values = normal_values(14, seed);
    const auto changes = find_mean_changes(values, 1.5, 2);
    Changes none;
    EXPECT_NEAR(cost_of(values, changes, 1.5), least_cost(values, none, 0, 1.5, 2), 1e-9);
  }
}

TEST(MeanChanges, FindStepsAndKeepTheLeastPart) {
  auto values = normal_values(60, 1);
  for (std::size_t i = 20; i < 40; ++i) {
    values[i] += 8;
  }
  EXPECT_EQ(find_mean_changes(values, 4 * std::log(60.0), 4), (Changes{20, 40}));
  EXPECT_TRUE(find_mean_changes(Values{0, 0, 9, 9, 9, 9, 9}, 1, 4).empty());
}

TEST(MeanChanges, FindNothingInNoise) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    EXPECT_TRUE(find_mean_changes(normal_values(100, seed), 4 * std::log(100.0), 4).empty());
  }
}

}  // namespace
}  // namespace assay::stats
