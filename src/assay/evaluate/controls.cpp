#include "assay/evaluate/controls.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/evaluate/output_values.h"
#include "assay/tensor/difference.h"

namespace assay {
namespace {

Control absent(std::string name, bool is_mandatory, std::string why, bool is_excused = false) {
  return {.name = std::move(name),
          .is_mandatory = is_mandatory,
          .is_excused = is_excused,
          .why_absent = std::move(why)};
}

Control all_zeros(const OutputValues& values) {
  const bool is_zero = std::ranges::all_of(values.reference, [](double x) { return x == 0; });
  if (is_zero) {
    return absent("all_zeros", true, "the reference is all zeros", values.is_constant);
  }
  return {.name = "all_zeros",
          .is_mandatory = true,
          .candidate = std::vector<double>(values.reference.size(), 0.0)};
}

/// The next sample, in a circle, with the same shape; the sample itself when there is none.
std::size_t neighbour_of(const OutputValues& values, std::size_t sample) {
  const auto n = values.samples();
  for (std::size_t step = 1; step < n; ++step) {
    const auto other = (sample + step) % n;
    if (values.shapes[other] == values.shapes[sample]) {
      return other;
    }
  }
  return sample;
}

bool is_same_number(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

Control other_sample(const OutputValues& values) {
  if (values.samples() < 2) {
    // There is nothing to swap, and that is no fault of the tolerance.
    return absent("other_sample", true, "there is one sample; give two or more", true);
  }
  std::vector<double> candidate;
  bool has_neighbours = false;
  for (std::size_t sample = 0; sample < values.samples(); ++sample) {
    const auto neighbour = neighbour_of(values, sample);
    const auto other = values.reference_of(neighbour);
    candidate.insert(candidate.end(), other.begin(), other.end());
    has_neighbours |= neighbour != sample;
  }
  if (!has_neighbours) {
    return absent("other_sample", true,
                  "no two samples have one shape, which tells their outputs apart", true);
  }
  if (std::ranges::equal(candidate, values.reference, is_same_number)) {
    return absent("other_sample", true, "no two samples of one shape have different references",
                  values.is_constant);
  }
  return {.name = "other_sample", .is_mandatory = true, .candidate = std::move(candidate)};
}

Control rolled(const OutputValues& values) {
  auto candidate = values.reference;
  for (std::size_t sample = 0; sample < values.samples(); ++sample) {
    const auto& shape = values.shapes[sample];
    const auto width = shape.empty() ? std::size_t{1} : static_cast<std::size_t>(shape.back());
    for (auto at = values.begin[sample]; at + width <= values.begin[sample + 1] && width > 0;
         at += width) {
      const auto row = candidate.begin() + static_cast<std::ptrdiff_t>(at);
      std::rotate(row, row + static_cast<std::ptrdiff_t>(width) - 1,
                  row + static_cast<std::ptrdiff_t>(width));
    }
  }
  if (std::ranges::equal(candidate, values.reference, is_same_number)) {
    return absent("rolled", false, "rolling changes nothing");
  }
  return {.name = "rolled", .candidate = std::move(candidate)};
}

/// Size of an element for the choice of the largest; less than any where it is not to be taken.
double size_of(const OutputValues& values, std::size_t element) {
  const bool is_free = !values.bounds.empty() && std::isinf(values.bounds[element]);
  const double size = std::abs(values.reference[element]);
  return std::isfinite(size) && !is_free ? size : -1.0;
}

/// The largest element of the first sample that has one to take; none where no sample has.
std::optional<std::size_t> largest_element(const OutputValues& values) {
  for (std::size_t sample = 0; sample < values.samples(); ++sample) {
    std::optional<std::size_t> largest;
    for (auto i = values.begin[sample]; i < values.begin[sample + 1]; ++i) {
      if (size_of(values, i) > (largest ? size_of(values, *largest) : -1.0)) {
        largest = i;
      }
    }
    if (largest) {
      return largest;
    }
  }
  return std::nullopt;
}

Control one_element(const OutputValues& values) {
  const bool has_bounds = !values.bounds.empty();
  double off = difference_between(values.reference, values.reference).reference_rms;
  if (off == 0 && has_bounds) {
    off = 1;  // Bounds know of each element how far it may be off, whatever the others are.
  }
  const auto is_finite = [](double x) { return std::isfinite(x); };
  if (std::ranges::none_of(values.reference, is_finite)) {
    // Special values are right in their place only, and there is nothing else.
    return absent("one_element", has_bounds, "the reference has no finite element", true);
  }
  const auto largest = largest_element(values);
  if (!largest || off == 0) {
    return absent("one_element", has_bounds, "the reference has no scale");
  }
  auto candidate = values.reference;
  candidate[*largest] += off;
  return {.name = "one_element", .is_mandatory = has_bounds, .candidate = std::move(candidate)};
}

/// How far the worst element of a candidate is out of bounds; NaN counts as furthest.
double ratio_of(const OutputValues& values, const std::vector<double>& candidate) {
  const auto metrics = measure_control(values, candidate);
  const auto ratio = metrics.find("error_bound_ratio");
  const bool is_known = ratio != metrics.end() && !std::isnan(ratio->second);
  return is_known ? ratio->second : std::numeric_limits<double>::infinity();
}

Control unchanged(const OutputValues& values) {
  if (values.is_copy) {
    return absent("unchanged", true, "the output is an input, unchanged", true);
  }
  const auto nearest = std::ranges::min_element(
      values.inputs, {}, [&values](const auto& input) { return ratio_of(values, input); });
  if (nearest == values.inputs.end()) {
    return absent("unchanged", true, "no input has the output's shape", true);
  }
  return {.name = "unchanged", .is_mandatory = true, .candidate = *nearest};
}

/// The names of the controls in their order.
std::vector<std::string> names_of(const OutputValues& values) {
  std::vector<std::string> names = {"all_zeros", "other_sample", "rolled", "one_element"};
  if (values.has_inputs) {
    names.emplace_back("unchanged");
  }
  return names;
}

}  // namespace

std::vector<Control> make_controls(const OutputValues& values) {
  if (values.reference.empty()) {
    std::vector<Control> controls;
    for (auto& name : names_of(values)) {
      controls.push_back(absent(std::move(name), true, "the output has no elements", true));
    }
    return controls;
  }
  std::vector<Control> controls = {all_zeros(values), other_sample(values), rolled(values),
                                   one_element(values)};
  if (values.has_inputs) {
    controls.push_back(unchanged(values));
  }
  return controls;
}

}  // namespace assay
