#pragma once

#include "fixedpoint/operations.h"
#include "fixedpoint/packed_conv.h"
#include "fixedpoint/winograd_conv.h"

#include <cstdint>

/// Exports of the files for 64-bit Arm. They hold no template of the standard library that could
/// be shared with others.
namespace fixedpoint::neon {

extern const GemmUnit kGemm;
extern const DepthwiseUnit kDepthwise;
extern const GemmUnit16 kGemm16;
extern const DepthwiseUnit16 kDepthwise16;
extern const WinogradUnit kWinograd2;
extern const WinogradUnit kWinograd4;
void add(const Add& op, const std::int8_t* a, const std::int8_t* b, std::int8_t* out);
void mul(const Mul& op, const std::int8_t* a, const std::int8_t* b, std::int8_t* out);
/// The mean of whole images.
void global_pool(const AvgPool2d& op, const std::int8_t* in, std::int8_t* out);
void table(const std::int8_t* results, std::int64_t count, const std::int8_t* in, std::int8_t* out);

}  // namespace fixedpoint::neon

namespace fixedpoint::neon_dot {

/// With the dot product of Armv8.2.
extern const GemmUnit kGemm;
extern const DepthwiseUnit kDepthwise;

}  // namespace fixedpoint::neon_dot
