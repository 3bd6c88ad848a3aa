#include "assay/stats/robust.h"

#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "assay/base/result.h"
#include "assay/stats/quantile.h"

namespace assay::stats {

double hodges_lehmann(std::span<const double> values) {
  ASSAY_CHECK(!values.empty());
  std::vector<double> means;
  means.reserve(values.size() * (values.size() + 1) / 2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (const double other : values.subspan(i)) {
      means.push_back(std::midpoint(values[i], other));
    }
  }
  return median(means);
}

double hodges_lehmann_shift(std::span<const double> a, std::span<const double> b) {
  ASSAY_CHECK(!a.empty() && !b.empty());
  std::vector<double> differences;
  differences.reserve(a.size() * b.size());
  for (const double before : a) {
    for (const double after : b) {
      differences.push_back(after - before);
    }
  }
  return median(differences);
}

}  // namespace assay::stats
