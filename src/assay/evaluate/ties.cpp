#include "assay/evaluate/ties.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "assay/evaluate/output_values.h"
#include "assay/tensor/dtype.h"

namespace assay {
namespace {

/// One row of both outputs.
struct TieRow {
  std::span<const double> values;   ///< The reference's values,
  std::span<const double> indices;  ///< and its indices.
  std::span<const double> found;    ///< Indices of the engine.
};

bool is_monotonic(std::span<const double> values) {
  return std::ranges::none_of(values, [](double x) { return std::isnan(x); }) &&
         (std::ranges::is_sorted(values) || std::ranges::is_sorted(values, std::greater()));
}

bool is_distinct(std::span<const double> indices) {
  return std::set<double>(indices.begin(), indices.end()).size() == indices.size();
}

/// How many indices of the row are those of ties; none where one of them is another difference.
std::size_t count_ties(const TieRow& row, double reach) {
  if (!is_monotonic(row.values) || !is_distinct(row.indices) || !is_distinct(row.found)) {
    return 0;
  }
  std::unordered_map<double, double> value_of;
  for (std::size_t i = 0; i < row.indices.size(); ++i) {
    value_of[row.indices[i]] = row.values[i];
  }
  std::size_t ties = 0;
  for (std::size_t i = 0; i < row.found.size(); ++i) {
    const auto named = value_of.find(row.found[i]);
    const bool is_tie =
        named != value_of.end() &&
        (named->second == row.values[i] || std::abs(named->second - row.values[i]) <= reach);
    if (!is_tie) {
      return 0;
    }
    ties += row.found[i] == row.indices[i] ? 0 : 1;
  }
  return ties;
}

void take_reference(std::size_t begin, std::size_t count, OutputValues& indices) {
  for (auto i = begin; i < begin + count; ++i) {
    indices.result[i] = indices.reference[i];
    if (!indices.exact.empty()) {
      indices.exact[i] = 0;
    }
  }
}

double largest_error(const OutputValues& values) {
  double largest = 0;
  for (std::size_t i = 0; i < values.reference.size(); ++i) {
    const double error = std::abs(values.result[i] - values.reference[i]);
    largest = values.result[i] == values.reference[i] ? largest : std::max(largest, error);
  }
  return largest;
}

bool is_pair_of_sort(const OutputValues& values, const OutputValues& indices) {
  const bool is_index = indices.dtype == Dtype::kInt64 || indices.dtype == Dtype::kInt32;
  return is_index && !indices.is_quantized && is_floating(values.dtype) &&
         values.shapes == indices.shapes;
}

}  // namespace

std::size_t settle_ties(const OutputValues& values, OutputValues& indices) {
  const double reach = 2 * largest_error(values);
  if (!is_pair_of_sort(values, indices) || !std::isfinite(reach)) {
    return 0;
  }
  std::size_t settled = 0;
  for (std::size_t sample = 0; sample < indices.samples(); ++sample) {
    const auto& shape = indices.shapes[sample];
    const auto width = shape.empty() ? std::size_t{1} : static_cast<std::size_t>(shape.back());
    for (auto at = indices.begin[sample]; width > 0 && at + width <= indices.begin[sample + 1];
         at += width) {
      const TieRow row{.values = std::span(values.reference).subspan(at, width),
                       .indices = std::span(indices.reference).subspan(at, width),
                       .found = std::span(indices.result).subspan(at, width)};
      const auto ties = count_ties(row, reach);
      if (ties > 0) {
        take_reference(at, width, indices);
      }
      settled += ties;
    }
  }
  return settled;
}

}  // namespace assay
