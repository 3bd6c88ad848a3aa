#include "assay/tensor/tensor.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/tensor/dtype.h"

namespace assay {

std::int64_t count_elements(std::span<const std::int64_t> shape) {
  std::int64_t count = 1;
  bool is_too_many = false;
  for (const auto size : shape) {
    if (size == 0) {
      return 0;
    }
    is_too_many = __builtin_mul_overflow(count, size, &count) || is_too_many;
  }
  return is_too_many ? std::numeric_limits<std::int64_t>::max() : count;
}

std::optional<std::size_t> size_in_bytes(Dtype dtype, std::span<const std::int64_t> shape) {
  const auto count = count_elements(shape);
  std::int64_t bytes = 0;
  if (std::ranges::any_of(shape, [](std::int64_t size) { return size < 0; }) ||
      __builtin_mul_overflow(count, static_cast<std::int64_t>(size_of_dtype(dtype)), &bytes) ||
      bytes == std::numeric_limits<std::int64_t>::max()) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(bytes);
}

Status check_size(const TensorSpec& spec) {
  if (size_in_bytes(spec.dtype, spec.shape)) {
    return {};
  }
  return fail(ErrorCode::kCorrupt, fmt::format("the shape {} of '{}' has more elements than can be "
                                               "counted",
                                               text_from_shape(spec.shape), spec.name));
}

std::string text_from_shape(std::span<const std::int64_t> shape) {
  std::string text;
  for (const auto size : shape) {
    text += text.empty() ? "" : "x";
    text += size == kUnboundDimension ? "?" : std::to_string(size);
  }
  return shape.empty() ? "scalar" : text;
}

Tensor Tensor::zeros(Dtype dtype, Shape shape) {
  const auto bytes = size_in_bytes(dtype, shape);
  ASSAY_CHECK(bytes.has_value());
  return {dtype, std::move(shape), std::vector<std::byte>(*bytes)};
}

Tensor Tensor::copy_of(const TensorView& view) {
  return {view.dtype, view.shape, {view.data.begin(), view.data.end()}};
}

ASSAY_DEFINE_JSON(Quantization, scales, zero_points, axis)
ASSAY_DEFINE_JSON(TensorSpec, name, dtype, shape, quantization)

}  // namespace assay
