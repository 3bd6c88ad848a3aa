#include "assay/tensor/tensor.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/tensor/dtype.h"

namespace assay {

std::int64_t count_elements(std::span<const std::int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
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
  const auto bytes = static_cast<std::size_t>(count_elements(shape)) * size_of_dtype(dtype);
  return {dtype, std::move(shape), std::vector<std::byte>(bytes)};
}

Tensor Tensor::copy_of(const TensorView& view) {
  return {view.dtype, view.shape, {view.data.begin(), view.data.end()}};
}

ASSAY_DEFINE_JSON(Quantization, scales, zero_points, axis)
ASSAY_DEFINE_JSON(TensorSpec, name, dtype, shape, quantization)

}  // namespace assay
