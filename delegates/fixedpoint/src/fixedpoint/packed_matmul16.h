#pragma once

#include "fixedpoint/operations.h"
#include "fixedpoint/packed_conv.h"
#include "fixedpoint/transformer.h"

#include <cstdint>
#include <memory>

namespace fixedpoint {

/// out[i] = requantize_wide(numbers, sums[i]).
using RequantizeRow = void (*)(const Requantize& numbers, const std::int64_t* sums, int count,
                               std::int16_t* out);
void requantize_row(const Requantize& numbers, const std::int64_t* sums, int count,
                    std::int16_t* out);

/// A product of activations of 16 bits by what multiplies them by weights, twice: by the upper and
/// by the lower bytes of the second matrix. `unit` has weights of two bytes, and stays valid
/// longer.
std::unique_ptr<MatmulKernel16> make_packed_matmul16(const Matmul& matmul, const GemmUnit16& unit,
                                                     RequantizeRow finish = requantize_row);

}  // namespace fixedpoint
