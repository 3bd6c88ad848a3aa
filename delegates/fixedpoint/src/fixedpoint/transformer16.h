#pragma once

#include "fixedpoint/transformer.h"

#include <cstdint>
#include <memory>

namespace fixedpoint {

/// The primitives of transformers on activations of 16 bits, as plain loops. Softmax has 512
/// exponentials: of multiples of 256, then of what is left of a distance.
std::unique_ptr<MatmulKernel16> make_matmul16(const Matmul& matmul);
void softmax(const Softmax& softmax, const std::int16_t* in, std::int16_t* out);
void layer_norm(const LayerNorm& norm, const std::int16_t* in, std::int16_t* out);

}  // namespace fixedpoint
