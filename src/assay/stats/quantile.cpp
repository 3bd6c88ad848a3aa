#include "assay/stats/quantile.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "assay/base/result.h"

namespace assay::stats {

double mean(std::span<const double> values) {
  ASSAY_CHECK(!values.empty());
  // Around the first value: large times with a small spread lose nothing.
  double sum = 0;
  for (const double value : values) {
    sum += value - values.front();
  }
  return values.front() + sum / static_cast<double>(values.size());
}

std::vector<double> sorted_copy(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  return sorted;
}

double quantile_of_sorted(std::span<const double> sorted, double q) {
  ASSAY_CHECK(!sorted.empty() && q >= 0 && q <= 1);
  const double position = static_cast<double>(sorted.size() - 1) * q;
  const auto below = static_cast<std::size_t>(position);
  const auto above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

double quantile(std::span<const double> values, double q) {
  return quantile_of_sorted(sorted_copy(values), q);
}

double median(std::span<const double> values) { return quantile(values, 0.5); }

double median_absolute_deviation(std::span<const double> values) {
  const double center = median(values);
  std::vector<double> deviations(values.size());
  std::ranges::transform(values, deviations.begin(),
                         [center](double value) { return std::abs(value - center); });
  return median(deviations);
}

double robust_sigma(std::span<const double> values) {
  return kMadToSigma * median_absolute_deviation(values);
}

}  // namespace assay::stats
