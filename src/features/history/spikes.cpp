#include "features/history/spikes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <numeric>
#include <span>
#include <vector>

#include "assay/stats/quantile.h"

namespace assay::history {
namespace {

constexpr std::size_t kNeighbors = 4;
/// Share of equal neighbors from which on the median of their differences tells little of noise.
constexpr double kManyEqual = 0.25;

/// Sorts one to four values by insertion.
double median_of_few(std::span<const double> values) {
  std::array<double, kNeighbors> sorted{};
  std::size_t count = 0;
  for (const double value : values) {
    std::size_t at = count++;
    for (; at > 0 && sorted[at - 1] > value; --at) {
      sorted[at] = sorted[at - 1];
    }
    sorted[at] = value;
  }
  return std::midpoint(sorted[(count - 1) / 2], sorted[count / 2]);
}

bool is_spike(std::span<const double> values, std::size_t i, double distance) {
  const auto before = values.subspan(i - std::min(i, kNeighbors), std::min(i, kNeighbors));
  const auto after = values.subspan(i + 1, std::min(kNeighbors, values.size() - i - 1));
  const double left = values[i] - median_of_few(before);
  const double right = values[i] - median_of_few(after);
  return (left > distance && right > distance) || (left < -distance && right < -distance);
}

}  // namespace

double noise_of_differences(std::span<const double> values) {
  if (values.size() < 2) {
    return 0;
  }
  std::vector<double> sizes(values.size() - 1);
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    sizes[i] = std::abs(values[i + 1] - values[i]);
  }
  const double equal =
      static_cast<double>(std::ranges::count(sizes, 0)) / static_cast<double>(sizes.size());
  const double mean =
      std::accumulate(sizes.begin(), sizes.end(), 0.0) / static_cast<double>(sizes.size());
  // Differences of noise are symmetric around 0, so their MAD is the median of their sizes.
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::ranges::nth_element(sizes, middle);
  const double by_median = stats::kMadToSigma * *middle / std::numbers::sqrt2;
  const double by_mean = std::sqrt(std::numbers::pi) / 2 * mean;
  return equal < kManyEqual ? by_median : std::max(by_median, by_mean);
}

std::vector<bool> find_spikes(std::span<const double> values, double sigmas, std::size_t block) {
  const std::size_t n = values.size();
  std::vector<bool> spikes(n, false);
  const std::size_t blocks = std::max<std::size_t>(n / block, 1);
  for (std::size_t number = 0; number < blocks; ++number) {
    const std::size_t first = number * block;
    const std::size_t end = number + 1 == blocks ? n : first + block;
    const double distance = sigmas * noise_of_differences(values.subspan(first, end - first));
    for (std::size_t i = std::max<std::size_t>(first, 1); i < end && i + 1 < n; ++i) {
      spikes[i] = is_spike(values, i, distance);
    }
  }
  return spikes;
}

}  // namespace assay::history
