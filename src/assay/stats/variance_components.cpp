#include "assay/stats/variance_components.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "assay/base/result.h"
#include "assay/stats/quantile.h"

namespace assay::stats {
namespace {

double sum_of_squares(std::span<const double> values) {
  const double center = mean(values);
  double sum = 0;
  for (const double value : values) {
    sum += (value - center) * (value - center);
  }
  return sum;
}

}  // namespace

VarianceComponents variance_components(std::span<const std::span<const double>> launches) {
  ASSAY_CHECK(launches.size() >= 2);
  std::vector<double> means;
  double squares = 0;
  std::size_t freedom = 0;
  double reciprocals = 0;
  for (const auto& launch : launches) {
    means.push_back(mean(launch));
    squares += sum_of_squares(launch);
    freedom += launch.size() - 1;
    reciprocals += 1 / static_cast<double>(launch.size());
  }
  ASSAY_CHECK(freedom > 0);
  const auto count = static_cast<double>(launches.size());
  const double within = squares / static_cast<double>(freedom);
  const double of_means = sum_of_squares(means) / (count - 1);
  return {.within = within, .between = std::max(0.0, of_means - within * reciprocals / count)};
}

int optimal_iterations(double cost_launch, double cost_iteration, double within, double between,
                       int least, int most) {
  ASSAY_CHECK(cost_launch >= 0 && cost_iteration > 0 && within >= 0 && between >= 0);
  ASSAY_CHECK(1 <= least && least <= most);
  if (between == 0) {
    return within == 0 ? least : most;
  }
  const double best = std::ceil(std::sqrt(cost_launch / cost_iteration * within / between));
  return static_cast<int>(std::clamp<double>(best, least, most));
}

}  // namespace assay::stats
