#include "assay/evaluate/error_bounds.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/evaluate/output_values.h"
#include "assay/tensor/difference.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double ratio_of_element(double candidate, double reference, double bound, double distance) {
  if (bound == kInfinity || distance == 0) {
    return 0;
  }
  if (!std::isfinite(reference) || !std::isfinite(candidate)) {
    const bool is_same = candidate == reference || (std::isnan(reference) && std::isnan(candidate));
    return is_same ? 0 : kInfinity;
  }
  return distance / bound;  // x / 0 is infinite.
}

/// Row-major place of an element in its sample.
std::vector<std::int64_t> place_of(std::size_t element, const Shape& shape) {
  std::vector<std::int64_t> place(shape.size());
  auto left = static_cast<std::int64_t>(element);
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    place[axis] = left % shape[axis];
    left /= shape[axis];
  }
  return place;
}

}  // namespace

BoundRatio bound_ratio_between(std::span<const double> candidate, std::span<const double> reference,
                               std::span<const double> bounds, std::span<const double> exact) {
  ASSAY_CHECK(candidate.size() == reference.size() && bounds.size() == reference.size());
  ASSAY_CHECK(exact.empty() || exact.size() == reference.size());
  BoundRatio found;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const double distance = std::abs(exact.empty() ? candidate[i] - reference[i] : exact[i]);
    const double ratio = ratio_of_element(candidate[i], reference[i], bounds[i], distance);
    if (ratio > found.ratio) {
      found = {.ratio = ratio, .worst = i};
    }
  }
  return found;
}

Status gather_bounds(std::span<const std::vector<Tensor>> bounds, std::size_t index,
                     OutputValues& values) {
  for (std::size_t sample = 0; sample < values.samples(); ++sample) {
    const bool is_there = sample < bounds.size() && index < bounds[sample].size() &&
                          bounds[sample][index].shape == values.shapes[sample];
    if (!is_there) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("the error bounds of sample {}, output {} do not have the shape of "
                              "the reference; it must be made again",
                              sample, index));
    }
    const auto one = doubles_from_tensor(bounds[sample][index].view());
    if (std::ranges::any_of(one, [](double bound) { return !(bound >= 0); })) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("an error bound of sample {}, output {} is negative or NaN; the "
                              "reference must be made again",
                              sample, index));
    }
    values.bounds.insert(values.bounds.end(), one.begin(), one.end());
  }
  return {};
}

void widen_bounds(Dtype computed_in, OutputValues& values) {
  if (values.dtype != Dtype::kFloat32) {
    return;
  }
  constexpr double kEpsilon32 = std::numeric_limits<float>::epsilon();
  const bool is_half = computed_in == Dtype::kFloat16;
  const double epsilon = is_half ? 0x1p-10 : 0x1p-7;
  const double least = is_half ? 0x1p-24 : 0x1p-133;  // The smallest number above 0.
  // The bound of a sum grows with its terms, and times 2^13 it would take any answer.
  const double most = difference_between(values.reference, values.reference).reference_rms / 64;
  for (std::size_t i = 0; i < values.bounds.size(); ++i) {
    auto& bound = values.bounds[i];
    if (bound < kInfinity && std::isfinite(values.reference[i])) {
      bound = std::max(bound, std::min(bound * (epsilon / kEpsilon32), most)) +
              std::max(epsilon * std::abs(values.reference[i]), least);
    }
  }
}

std::string describe_worst_element(const OutputValues& values) {
  const auto worst =
      bound_ratio_between(values.result, values.reference, values.bounds, values.exact).worst;
  const auto next = std::ranges::upper_bound(values.begin, worst);
  const auto sample = static_cast<std::size_t>(next - values.begin.begin()) - 1;
  const bool is_hidden = !values.exact.empty() && values.result[worst] == values.reference[worst];
  const auto off = is_hidden ? fmt::format(" (off by {:.9g})", std::abs(values.exact[worst])) : "";
  return fmt::format("sample {}, element [{}]: {:.9g}{}, expected {:.9g} ± {:.3g}", sample,
                     fmt::join(place_of(worst - values.begin[sample], values.shapes[sample]), ", "),
                     values.result[worst], off, values.reference[worst], values.bounds[worst]);
}

}  // namespace assay
