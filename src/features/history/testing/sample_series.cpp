#include "features/history/testing/sample_series.h"

#include "features/history/series.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace assay::history {

std::vector<double> sample_offsets(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, 0.01);
  std::vector<double> offsets(count);
  for (auto& offset : offsets) {
    offset = normal(random);
  }
  return offsets;
}

Series sample_series(std::span<const double> offsets) {
  constexpr std::int64_t kHourNs = std::int64_t{3600} * 1'000'000'000;
  Series series{.name = "net", .metric = "steady_ns", .unit = "ns"};
  series.environments = {"desk", "rack"};
  series.references = {"r0", "r1"};
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    Point point{.position = static_cast<std::int64_t>(i), .commit = "c" + std::to_string(i)};
    point.unix_ns = static_cast<std::int64_t>(i + 1) * kHourNs;
    point.value = 1e6 * std::exp(offsets[i]);
    point.offset = offsets[i];
    series.points.push_back(std::move(point));
  }
  return series;
}

void add_step(std::vector<double>& offsets, std::size_t first, double change) {
  for (std::size_t i = first; i < offsets.size(); ++i) {
    offsets[i] += change;
  }
}

}  // namespace assay::history
