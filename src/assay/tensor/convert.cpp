#include <cstring>
#include <type_traits>

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

}  // namespace

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
    case Dtype::kBool:
      return decode_each<std::uint8_t>(tensor.data,
                                       [](std::uint8_t stored) { return stored == 0 ? 0.0 : 1.0; });
  }
  return {};
}

}  // namespace assay
