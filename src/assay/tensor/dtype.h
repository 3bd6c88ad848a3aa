#pragma once

#include <cstddef>
#include <cstdint>

#include "assay/base/enum_names.h"

namespace assay {

/// Element types, with the names that numpy and PyTorch use.
enum class Dtype : std::uint8_t {
  kFloat64,
  kFloat32,
  kFloat16,
  kBFloat16,
  kInt64,
  kInt32,
  kInt16,
  kInt8,
  kUInt8,
  kUInt16,
  kUInt32,
  kUInt64,
  kBool,
};

template <>
inline constexpr auto kEnumNames<Dtype> = std::to_array<EnumName<Dtype>>({
    {Dtype::kFloat64, "float64"},
    {Dtype::kFloat32, "float32"},
    {Dtype::kFloat16, "float16"},
    {Dtype::kBFloat16, "bfloat16"},
    {Dtype::kInt64, "int64"},
    {Dtype::kInt32, "int32"},
    {Dtype::kInt16, "int16"},
    {Dtype::kInt8, "int8"},
    {Dtype::kUInt8, "uint8"},
    {Dtype::kUInt16, "uint16"},
    {Dtype::kUInt32, "uint32"},
    {Dtype::kUInt64, "uint64"},
    {Dtype::kBool, "bool"},
});

constexpr std::size_t size_of_dtype(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFloat64:
    case Dtype::kInt64:
    case Dtype::kUInt64:
      return 8;
    case Dtype::kFloat32:
    case Dtype::kInt32:
    case Dtype::kUInt32:
      return 4;
    case Dtype::kFloat16:
    case Dtype::kBFloat16:
    case Dtype::kInt16:
    case Dtype::kUInt16:
      return 2;
    default:
      return 1;
  }
}

constexpr bool is_floating(Dtype dtype) {
  return dtype == Dtype::kFloat64 || dtype == Dtype::kFloat32 || dtype == Dtype::kFloat16 ||
         dtype == Dtype::kBFloat16;
}

}  // namespace assay
