#pragma once

#include "fixedpoint/transformer.h"

#include <cstdint>

namespace fixedpoint {

/// The primitives of transformers on activations of 16 bits, as plain loops. Softmax has 512
/// exponentials: of multiples of 256, then of what is left of a distance.
void matmul(const Matmul& matmul, const std::int16_t* a, const std::int16_t* b, std::int16_t* out);
void softmax(const Softmax& softmax, const std::int16_t* in, std::int16_t* out);
void layer_norm(const LayerNorm& norm, const std::int16_t* in, std::int16_t* out);

}  // namespace fixedpoint
