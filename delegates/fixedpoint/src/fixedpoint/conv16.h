#pragma once

#include "fixedpoint/kernels.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/transformer.h"

#include <cstdint>
#include <memory>

namespace fixedpoint {

/// A convolution of activations of 16 bits in one group, by dot products of so many values that
/// their sums fit 32 bits.
std::unique_ptr<TypedConvKernel<std::int16_t>> make_dot_conv16(const Conv2d& conv, DotRows dot);

}  // namespace fixedpoint
