#pragma once

#include "fixedpoint/format.h"
#include "fixedpoint/testing/blob_writer.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fixedpoint::testing {

constexpr std::int32_t kMultiplier = 0x55555555;

/// Any values that fit 8 bits, times `factor`.
template <class T = std::int8_t>
std::vector<T> pattern(std::size_t count, int step, int factor = 1) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<T>((static_cast<int>(i * step % 255) - 127) * factor);
  }
  return values;
}

/// Constants that a convolution reads.
struct Constants {
  std::uint32_t weights, multipliers, shifts, biases;
};

inline Constants add_constants(BlobWriter& blob, std::uint32_t out, std::uint32_t kernel,
                               std::uint32_t in) {
  const auto weights = pattern(std::size_t{out} * kernel * kernel * in, 37);
  return {blob.add_constant({out, kernel, kernel, in}, DType::kInt8, weights),
          blob.add_constant({out}, DType::kInt32, std::vector<std::int32_t>(out, kMultiplier)),
          blob.add_constant({out}, DType::kUint8, std::vector<std::uint8_t>(out, 40)),
          blob.add_constant({out}, DType::kInt64,
                            std::vector<std::int64_t>(out, std::int64_t{5} << 39))};
}

}  // namespace fixedpoint::testing
