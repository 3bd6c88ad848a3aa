#pragma once

#include "fixedpoint/packed_conv.h"

#include <arm_neon.h>
#include <cstddef>
#include <cstdint>
#include <cstring>

/// Shared code of both files for 64-bit Arm on the sums of 16 channels. In an unnamed namespace,
/// since each is compiled for another instruction set.
namespace fixedpoint {
namespace {  // NOLINT(google-build-namespaces): one copy for each instruction set

/// The sums of a block's channels in their order.
struct Sums {
  int32x4_t parts[4];
};

/// The upper half of 64 bits, twice.
[[gnu::always_inline]] inline int32x2_t upper(int64x2_t x) { return vshrn_n_s64(x, 32); }

/// Four results in 32 bits, before the clamp: part 0 to 3 of a block. See BlockNumbers.
[[gnu::always_inline]] inline int32x4_t requantize(int32x4_t sums, const BlockNumbers& n,
                                                   int part) {
  const int32x4_t x = vshlq_s32(sums, vld1q_s32(n.left + 4 * part));
  const int32x4_t even = vld1q_s32(n.multiplier + 4 * part);
  const int64x2_t even_bias = vld1q_s64(n.even_bias + 2 * part);
  const int64x2_t odd_bias = vld1q_s64(n.odd_bias + 2 * part);
  const int64x2_t low =
      vmlal_s32(vzip1q_s64(even_bias, odd_bias), vget_low_s32(x), vget_low_s32(even));
  const int64x2_t high = vmlal_high_s32(vzip2q_s64(even_bias, odd_bias), x, even);
  const int32x4_t halves = vcombine_s32(upper(low), upper(high));
  return vshlq_s32(halves, vnegq_s32(vld1q_s32(n.right + 4 * part)));
}

[[gnu::always_inline]] inline int8x16_t narrow(const Sums& s, int low, int high) {
  const int16x8_t first = vcombine_s16(vqmovn_s32(s.parts[0]), vqmovn_s32(s.parts[1]));
  const int16x8_t second = vcombine_s16(vqmovn_s32(s.parts[2]), vqmovn_s32(s.parts[3]));
  const int8x16_t bytes = vcombine_s8(vqmovn_s16(first), vqmovn_s16(second));
  return vminq_s8(vmaxq_s8(bytes, vdupq_n_s8(static_cast<std::int8_t>(low))),
                  vdupq_n_s8(static_cast<std::int8_t>(high)));
}

[[gnu::always_inline]] inline void store(std::int8_t* out, int8x16_t bytes, int count) {
  if (count >= kBlock) {
    vst1q_s8(out, bytes);
    return;
  }
  std::int8_t all[kBlock];
  vst1q_s8(all, bytes);
  std::memcpy(out, all, count);
}

/// 16 values, those past `count` zero.
[[gnu::always_inline]] inline int8x16_t load_some(const std::int8_t* in, int count) {
  if (count >= kBlock) {
    return vld1q_s8(in);
  }
  std::int8_t all[kBlock] = {};
  std::memcpy(all, in, count);
  return vld1q_s8(all);
}

/// 16 values of 16 bits.
struct Wide {
  int16x8_t first, second;
};

[[gnu::always_inline]] inline Wide narrow_wide(const Sums& s, int low, int high) {
  const int16x8_t least = vdupq_n_s16(static_cast<std::int16_t>(low));
  const int16x8_t most = vdupq_n_s16(static_cast<std::int16_t>(high));
  const int16x8_t first = vcombine_s16(vqmovn_s32(s.parts[0]), vqmovn_s32(s.parts[1]));
  const int16x8_t second = vcombine_s16(vqmovn_s32(s.parts[2]), vqmovn_s32(s.parts[3]));
  return {vminq_s16(vmaxq_s16(first, least), most), vminq_s16(vmaxq_s16(second, least), most)};
}

[[gnu::always_inline]] inline void store(std::int16_t* out, const Wide& values, int count) {
  std::int16_t some[kBlock];
  std::int16_t* place = count >= kBlock ? out : some;
  vst1q_s16(place, values.first);
  vst1q_s16(place + kBlock / 2, values.second);
  if (count < kBlock) {
    std::memcpy(out, some, count * sizeof *out);
  }
}

/// 16 values in 16 bits, those past `count` zero.
[[gnu::always_inline]] inline Wide load_wide(const std::int8_t* in, int count) {
  const int8x16_t x = load_some(in, count);
  return {vmovl_s8(vget_low_s8(x)), vmovl_high_s8(x)};
}

[[gnu::always_inline]] inline Wide load_wide(const std::int16_t* in, int count) {
  std::int16_t some[kBlock] = {};
  if (count < kBlock) {
    std::memcpy(some, in, count * sizeof *in);
    in = some;
  }
  return {vld1q_s16(in), vld1q_s16(in + kBlock / 2)};
}

[[gnu::always_inline]] inline Sums requantize(const Sums& sums, const BlockNumbers& n) {
  return {{requantize(sums.parts[0], n, 0), requantize(sums.parts[1], n, 1),
           requantize(sums.parts[2], n, 2), requantize(sums.parts[3], n, 3)}};
}

[[gnu::always_inline]] inline void finish(const Sums& sums, const BlockNumbers& n, int low,
                                          int high, std::int8_t* out, int count) {
  store(out, narrow(requantize(sums, n), low, high), count);
}

[[gnu::always_inline]] inline void finish(const Sums& sums, const BlockNumbers& n, int low,
                                          int high, std::int16_t* out, int count) {
  store(out, narrow_wide(requantize(sums, n), low, high), count);
}

/// Tiles of 1 to 4 rows by their number of rows.
template <class T>
using TypedMultiply = void (*)(const std::byte*, std::ptrdiff_t, const std::byte*, int,
                               const TileNumbers&, T*, std::ptrdiff_t, int);
using Multiply = TypedMultiply<std::int8_t>;

}  // namespace
}  // namespace fixedpoint
