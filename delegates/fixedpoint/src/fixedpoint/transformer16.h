#pragma once

#include "fixedpoint/transformer.h"

#include <cstdint>
#include <memory>

namespace fixedpoint {

/// The primitives of transformers on activations of 16 bits, as plain loops. Softmax has 512
/// exponentials: of multiples of 256, then of what is left of a distance.
/// The product of both tables' exponentials, rounded half up.
inline std::int64_t exponential16(const std::int32_t* table, int distance) {
  constexpr std::int64_t kHalf = std::int64_t{1} << (kSoftmaxBits - 1);
  const std::int64_t coarse = table[distance >> 8];
  return (coarse * table[256 + (distance & 255)] + kHalf) >> kSoftmaxBits;
}

std::unique_ptr<MatmulKernel16> make_matmul16(const Matmul& matmul);
void softmax(const Softmax& softmax, const std::int16_t* in, std::int16_t* out);
void layer_norm(const LayerNorm& norm, const std::int16_t* in, std::int16_t* out);

}  // namespace fixedpoint
