#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fmt/format.h>
#include <span>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/small_float.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

template <class Stored, class Decode>
std::vector<double> decode_each(std::span<const std::byte> data, Decode decode) {
  std::vector<double> values(data.size() / sizeof(Stored));
  for (std::size_t i = 0; i < values.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, data.data() + i * sizeof(Stored), sizeof(Stored));
    values[i] = decode(stored);
  }
  return values;
}

template <class Stored>
std::vector<double> cast_each(std::span<const std::byte> data) {
  return decode_each<Stored>(data, [](Stored stored) { return static_cast<double>(stored); });
}

template <class Stored, class Encode>
void encode_each(std::span<const double> values, std::vector<std::byte>& data, Encode encode) {
  data.resize(values.size() * sizeof(Stored));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Stored stored = encode(values[i]);
    std::memcpy(data.data() + i * sizeof(Stored), &stored, sizeof(Stored));
  }
}

/// Number of consecutive elements that share one entry of the parameters.
std::int64_t elements_per_entry(const Shape& shape, int axis) {
  const auto inner = std::span(shape).subspan(static_cast<std::size_t>(axis) + 1);
  return std::max<std::int64_t>(count_elements(inner), 1);
}

Status check_quantization(const TensorView& tensor, const Quantization& quantization) {
  const auto rank = static_cast<int>(tensor.shape.size());
  const bool is_per_tensor = quantization.axis < 0;
  const auto entries = quantization.scales.size();
  const bool has_entries = is_per_tensor
                               ? entries == 1
                               : quantization.axis < rank &&
                                     static_cast<std::int64_t>(entries) ==
                                         tensor.shape[static_cast<std::size_t>(quantization.axis)];
  if (!has_entries || quantization.zero_points.size() != entries) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} scales and {} zero points along axis {} do not fit the shape {}",
                            entries, quantization.zero_points.size(), quantization.axis,
                            text_from_shape(tensor.shape)));
  }
  return {};
}

}  // namespace

Result<std::vector<double>> doubles_from_quantized(const TensorView& tensor,
                                                   const Quantization& quantization) {
  ASSAY_RETURN_IF_ERROR(check_quantization(tensor, quantization));
  auto values = doubles_from_tensor(tensor);
  const auto entries = quantization.scales.size();
  const auto run = static_cast<std::size_t>(
      quantization.axis < 0 ? 1 : elements_per_entry(tensor.shape, quantization.axis));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto entry = i / run % std::max<std::size_t>(entries, 1);
    values[i] = (values[i] - static_cast<double>(quantization.zero_points[entry])) *
                quantization.scales[entry];
  }
  return values;
}

std::vector<double> doubles_from_tensor(const TensorView& tensor) {
  switch (tensor.dtype) {
    case Dtype::kFloat64:
      return cast_each<double>(tensor.data);
    case Dtype::kFloat32:
      return cast_each<float>(tensor.data);
    case Dtype::kFloat16:
      return decode_each<std::uint16_t>(tensor.data, double_from_float16);
    case Dtype::kBFloat16:
      return decode_each<std::uint16_t>(tensor.data, double_from_bfloat16);
    case Dtype::kInt64:
      return cast_each<std::int64_t>(tensor.data);
    case Dtype::kInt32:
      return cast_each<std::int32_t>(tensor.data);
    case Dtype::kInt16:
      return cast_each<std::int16_t>(tensor.data);
    case Dtype::kInt8:
      return cast_each<std::int8_t>(tensor.data);
    case Dtype::kUInt8:
      return cast_each<std::uint8_t>(tensor.data);
    case Dtype::kUInt16:
      return cast_each<std::uint16_t>(tensor.data);
    case Dtype::kUInt32:
      return cast_each<std::uint32_t>(tensor.data);
    case Dtype::kUInt64:
      return cast_each<std::uint64_t>(tensor.data);
    case Dtype::kBool:
      return decode_each<std::uint8_t>(tensor.data,
                                       [](std::uint8_t stored) { return stored == 0 ? 0.0 : 1.0; });
  }
  return {};
}

Tensor tensor_from_doubles(std::span<const double> values, Shape shape, Dtype floating) {
  ASSAY_CHECK(is_floating(floating));
  ASSAY_CHECK(count_elements(shape) == static_cast<std::int64_t>(values.size()));
  Tensor tensor{.dtype = floating, .shape = std::move(shape), .data = {}};
  switch (floating) {
    case Dtype::kFloat16:
      encode_each<std::uint16_t>(values, tensor.data, float16_from_double);
      break;
    case Dtype::kBFloat16:
      encode_each<std::uint16_t>(values, tensor.data, bfloat16_from_double);
      break;
    case Dtype::kFloat32:
      encode_each<float>(values, tensor.data,
                         [](double value) { return static_cast<float>(value); });
      break;
    default:
      encode_each<double>(values, tensor.data, [](double value) { return value; });
  }
  return tensor;
}

}  // namespace assay
