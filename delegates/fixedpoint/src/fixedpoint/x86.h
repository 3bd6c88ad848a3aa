#pragma once

#include "fixedpoint/operations.h"
#include "fixedpoint/packed_conv.h"
#include "fixedpoint/packed_matmul.h"
#include "fixedpoint/tile_conv.h"
#include "fixedpoint/transformer.h"
#include "fixedpoint/winograd_conv.h"

#include <cstddef>
#include <cstdint>

/// Exports of the files for one instruction set. They are compiled for it function by function,
/// and hold no template of the standard library that could be shared with others.
namespace fixedpoint::avx2 {

extern const GemmUnit kGemm;
/// For a single row, whose time is that of reading weights: they stay bytes.
extern const GemmUnit kRowGemm;
/// Faster, for weights of up to `kMostNarrowWeight`.
extern const GemmUnit kNarrowGemm;
constexpr int kMostNarrowWeight = 64;
extern const DepthwiseUnit kDepthwise;
extern const GemmUnit16 kGemm16;
extern const DepthwiseUnit16 kDepthwise16;
extern const WinogradUnit kWinograd2;
extern const WinogradUnit kWinograd4;
/// Bytes with their sign bits turned.
void turn_signs(const std::int8_t* in, int count, std::byte* packed);
bool is_supported();
/// False when the numbers need the definition's wider arithmetic; nothing is written then.
bool add(const Add& op, const std::int8_t* a, const std::int8_t* b, std::int8_t* out);
bool mul(const Mul& op, const std::int8_t* a, const std::int8_t* b, std::int8_t* out);
/// The mean of whole images.
bool global_pool(const AvgPool2d& op, const std::int8_t* in, std::int8_t* out);
void max_pool(const MaxPool2d& op, const std::int8_t* in, std::int8_t* out);
void table(const std::int8_t* results, std::int64_t count, const std::int8_t* in, std::int8_t* out);
void quantize_pixels(const Boundary& op, const float* in, std::int64_t count, std::int64_t values,
                     std::int64_t stride, std::int8_t* out);
/// A RequantizeRow.
void requantize_row(const Requantize& numbers, const std::int64_t* sums, int count,
                    std::int16_t* out);
/// Activations of 16 bits. False when the numbers need the definition's wider arithmetic.
bool softmax16(const Softmax& op, const std::int16_t* in, std::int16_t* out);
bool mul16(const Mul& op, const std::int16_t* a, const std::int16_t* b, std::int16_t* out);
void layer_norm16(const LayerNorm& op, const std::int16_t* in, std::int16_t* out);
void table16(const std::int16_t* entries, std::int64_t count, const std::int16_t* in,
             std::int16_t* out);

}  // namespace fixedpoint::avx2

namespace fixedpoint::avxvnni {

extern const GemmUnit kGemm;
/// AVX2 and AVX-VNNI, which processors without AVX-512 may have.
bool is_supported();

}  // namespace fixedpoint::avxvnni

namespace fixedpoint::avx512 {

extern const GemmUnit kGemm;
extern const GemmUnit16 kGemm16;
extern const DepthwiseUnit kDepthwise;
extern const WinogradUnit kWinograd2;
extern const WinogradUnit kWinograd4;
/// AVX-512 F, BW, VL, DQ, VNNI and VBMI.
bool is_supported();
/// False when the numbers need the definition's wider arithmetic; nothing is written then.
bool add(const Add& op, const std::int8_t* a, const std::int8_t* b, std::int8_t* out);
bool mul(const Mul& op, const std::int8_t* a, const std::int8_t* b, std::int8_t* out);
void table(const std::int8_t* results, std::int64_t count, const std::int8_t* in, std::int8_t* out);
void quantize_pixels(const Boundary& op, const float* in, std::int64_t count, std::int64_t values,
                     std::int64_t stride, std::int8_t* out);
extern const MatmulUnit kMatmul;
void softmax(const Softmax& op, const std::int8_t* in, std::int8_t* out);
void layer_norm(const LayerNorm& op, const std::int8_t* in, std::int8_t* out);
void masked_softmax(const MaskedSoftmax& op, const std::int8_t* in, const std::uint8_t* mask,
                    std::int8_t* out);

}  // namespace fixedpoint::avx512

namespace fixedpoint::amx {

extern const TileUnit kTiles;
/// AMX for int8, which the operating system is asked for when this is called first.
bool is_supported();

}  // namespace fixedpoint::amx
