#include "assay/stats/series.h"

#include <cstddef>
#include <span>
#include <vector>

#include "assay/stats/quantile.h"

namespace assay::stats {

double theil_sen_slope(std::span<const double> values) {
  constexpr std::size_t kMostPoints = 1000;
  if (values.size() < 2) {
    return 0;
  }
  const auto stride = (values.size() + kMostPoints - 1) / kMostPoints;
  std::vector<double> slopes;
  for (std::size_t i = 0; i < values.size(); i += stride) {
    for (std::size_t j = i + stride; j < values.size(); j += stride) {
      slopes.push_back((values[j] - values[i]) / static_cast<double>(j - i));
    }
  }
  return median(slopes);
}

double lag1_autocorrelation(std::span<const double> values) {
  if (values.size() < 3) {
    return 0;
  }
  const double center = mean(values);
  double products = 0;
  double squares = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double here = values[i] - center;
    squares += here * here;
    products += i + 1 < values.size() ? here * (values[i + 1] - center) : 0;
  }
  return squares == 0 ? 0 : products / squares;
}

}  // namespace assay::stats
