#include "simulation.h"

#include "features/history/series.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::simulation {

std::string_view name_of(Family family) {
  constexpr std::string_view kNames[] = {"Gauss", "3 % spikes", "t3", "AR 0.3"};
  return kNames[static_cast<std::size_t>(family)];
}

std::vector<double> simulate(const SeriesPlan& plan, std::uint64_t seed) {
  constexpr double kCorrelation = 0.3;
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::student_t_distribution<double> student(3);
  std::uniform_real_distribution<double> uniform;
  const double innovation = std::sqrt(1 - kCorrelation * kCorrelation);
  std::vector<double> values(plan.commits);
  double previous = normal(random);
  for (std::size_t i = 0; i < plan.commits; ++i) {
    double noise = plan.family == Family::kStudent3 ? student(random) : normal(random);
    if (plan.family == Family::kSpikes && uniform(random) < 0.03) {
      noise += 5 + 15 * uniform(random);
    }
    if (plan.family == Family::kAutoregressive) {
      noise = previous = kCorrelation * previous + innovation * noise;
    }
    const bool is_after = plan.step != 0 && i >= plan.step_at;
    values[i] = plan.noise * noise + (is_after ? plan.step : 0);
  }
  return values;
}

history::Series series_from(const std::vector<double>& offsets) {
  history::Series series{.name = "simulated", .metric = "steady_ns", .unit = "ns"};
  series.environments = {"simulated"};
  series.references = {""};
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    history::Point point{.position = static_cast<std::int64_t>(i), .commit = std::to_string(i)};
    point.value = 1e6 * std::exp(offsets[i]);
    point.offset = offsets[i];
    series.points.push_back(std::move(point));
  }
  return series;
}

}  // namespace assay::simulation
