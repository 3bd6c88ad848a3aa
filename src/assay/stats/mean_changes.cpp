#include "assay/stats/mean_changes.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "assay/base/result.h"

namespace assay::stats {
namespace {

/// Squared distances from the mean of any part, from prefix sums around the first value.
class SquaredDistances {
 public:
  explicit SquaredDistances(std::span<const double> values)
      : sums_(values.size() + 1, 0.0), squares_(values.size() + 1, 0.0) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double value = values[i] - values.front();
      sums_[i + 1] = sums_[i] + value;
      squares_[i + 1] = squares_[i] + value * value;
    }
  }
  [[nodiscard]] double of(std::size_t first, std::size_t end) const {
    const double sum = sums_[end] - sums_[first];
    return squares_[end] - squares_[first] - sum * sum / static_cast<double>(end - first);
  }

 private:
  std::vector<double> sums_;
  std::vector<double> squares_;
};

}  // namespace

std::vector<std::size_t> find_mean_changes(std::span<const double> values, double penalty,
                                           std::size_t min_segment) {
  ASSAY_CHECK(min_segment >= 1);
  const std::size_t n = values.size();
  if (n < 2 * min_segment) {
    return {};
  }
  const SquaredDistances distances(values);
  // The least cost of the first `end` values, and where its last part begins.
  std::vector<double> cost(n + 1, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> begin(n + 1, 0);
  cost[0] = -penalty;
  for (std::size_t end = min_segment; end <= n; ++end) {
    for (std::size_t first = 0; first + min_segment <= end; ++first) {
      const double with = cost[first] + distances.of(first, end) + penalty;
      if (with < cost[end]) {
        cost[end] = with;
        begin[end] = first;
      }
    }
  }
  std::vector<std::size_t> changes;
  for (std::size_t end = begin[n]; end > 0; end = begin[end]) {
    changes.push_back(end);
  }
  std::ranges::reverse(changes);
  return changes;
}

}  // namespace assay::stats
