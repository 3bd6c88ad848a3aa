#include "fixedpoint/neon.h"

#include "fixedpoint/neon_block.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/packed_conv.h"

#include <arm_neon.h>
#include <cstddef>
#include <cstdint>

namespace fixedpoint::neon {
namespace {

constexpr int kRows = 4;
constexpr Packing kPacking = {.channels = kBlock,
                              .group = 1,
                              .weight_bytes = 2,
                              .activation_offset = 0,
                              .channel_of = same_channel};

/// Widens: the kernels multiply int16 by int16.
void pack(const std::int8_t* in, int count, std::byte* packed) {
  auto* words = reinterpret_cast<std::int16_t*>(packed);
  int i = 0;
  for (; i + kBlock <= count; i += kBlock) {
    const int8x16_t x = vld1q_s8(in + i);
    vst1q_s16(words + i, vmovl_s8(vget_low_s8(x)));
    vst1q_s16(words + i + 8, vmovl_high_s8(x));
  }
  for (; i < count; ++i) {
    words[i] = in[i];
  }
}

/// Adds one depth of one row: x times the weights of 16 channels.
[[gnu::always_inline]] inline void add_depth(Sums& sums, std::int16_t x, int16x8_t first,
                                             int16x8_t second) {
  sums.parts[0] = vmlal_n_s16(sums.parts[0], vget_low_s16(first), x);
  sums.parts[1] = vmlal_high_n_s16(sums.parts[1], first, x);
  sums.parts[2] = vmlal_n_s16(sums.parts[2], vget_low_s16(second), x);
  sums.parts[3] = vmlal_high_n_s16(sums.parts[3], second, x);
}

template <int kDepth>
[[gnu::always_inline]] inline void add_lane(Sums& sums, int16x4_t x, int16x8_t first,
                                            int16x8_t second) {
  sums.parts[0] = vmlal_lane_s16(sums.parts[0], vget_low_s16(first), x, kDepth);
  sums.parts[1] = vmlal_high_lane_s16(sums.parts[1], first, x, kDepth);
  sums.parts[2] = vmlal_lane_s16(sums.parts[2], vget_low_s16(second), x, kDepth);
  sums.parts[3] = vmlal_high_lane_s16(sums.parts[3], second, x, kDepth);
}

/// Four depths of all rows: a row's values stay in one register, each weight is read once.
template <int kCount, int kDepth = 0>
[[gnu::always_inline]] inline void add_four(Sums* sums, const int16x4_t* x,
                                            const std::int16_t* weights) {
  if constexpr (kDepth < 4) {
    const int16x8_t first = vld1q_s16(weights + kBlock * kDepth);
    const int16x8_t second = vld1q_s16(weights + kBlock * kDepth + 8);
#pragma GCC unroll 4
    for (int row = 0; row < kCount; ++row) {
      add_lane<kDepth>(sums[row], x[row], first, second);
    }
    add_four<kCount, kDepth + 1>(sums, x, weights);
  }
}

/// Adds all depths of all rows.
template <int kCount>
[[gnu::always_inline]] inline void add_groups(const std::byte* a, std::ptrdiff_t a_stride,
                                              const std::byte* b, int groups, Sums* sums) {
  const auto* weights = reinterpret_cast<const std::int16_t*>(b);
  const auto* values = reinterpret_cast<const std::int16_t*>(a);
  const std::ptrdiff_t stride = a_stride / 2;
  int depth = 0;
  for (; depth + 4 <= groups; depth += 4, weights += 4 * kBlock) {
    int16x4_t x[kCount];
#pragma GCC unroll 4
    for (int row = 0; row < kCount; ++row) {
      x[row] = vld1_s16(values + row * stride + depth);
    }
    add_four<kCount>(sums, x, weights);
  }
  for (; depth < groups; ++depth, weights += kBlock) {
    const int16x8_t first = vld1q_s16(weights);
    const int16x8_t second = vld1q_s16(weights + 8);
#pragma GCC unroll 4
    for (int row = 0; row < kCount; ++row) {
      add_depth(sums[row], values[row * stride + depth], first, second);
    }
  }
}

template <class T, int kCount>
void multiply_rows(const std::byte* a, std::ptrdiff_t a_stride, const std::byte* b, int groups,
                   const TileNumbers& numbers, T* out, std::ptrdiff_t out_stride, int channels) {
  Sums sums[kCount] = {};
  add_groups<kCount>(a, a_stride, b, groups, sums);
#pragma GCC unroll 4
  for (int row = 0; row < kCount; ++row) {
    finish(sums[row], *numbers.blocks, numbers.low, numbers.high, out + row * out_stride, channels);
  }
}

template <class T>
void multiply(const std::byte* a, std::ptrdiff_t a_stride, int rows, const std::byte* b, int groups,
              const TileNumbers& numbers, T* out, std::ptrdiff_t out_stride, int channels) {
  static constexpr TypedMultiply<T> kByRows[kRows + 1] = {
      nullptr, multiply_rows<T, 1>, multiply_rows<T, 2>, multiply_rows<T, 3>, multiply_rows<T, 4>};
  kByRows[rows](a, a_stride, b, groups, numbers, out, out_stride, channels);
}

template <int kCount>
void sum_up_rows(const std::byte* a, std::ptrdiff_t a_stride, const std::byte* b, int groups,
                 std::int32_t* made) {
  Sums sums[kCount] = {};
  add_groups<kCount>(a, a_stride, b, groups, sums);
  for (int row = 0; row < kCount; ++row) {
    for (int part = 0; part < 4; ++part) {
      vst1q_s32(made + row * kBlock + 4 * part, sums[row].parts[part]);
    }
  }
}

void sum_up(const std::byte* a, std::ptrdiff_t a_stride, int rows, const std::byte* b, int groups,
            std::int32_t* sums) {
  static constexpr SumUpRows kByRows[kRows + 1] = {nullptr, sum_up_rows<1>, sum_up_rows<2>,
                                                   sum_up_rows<3>, sum_up_rows<4>};
  kByRows[rows](a, a_stride, b, groups, sums);
}

template <class T>
void convolve(const T* const* taps, int groups, const std::byte* weights,
              const TileNumbers& numbers, int channels, T* out) {
  const auto* values = reinterpret_cast<const std::int16_t*>(weights);
  const BlockNumbers* block = numbers.blocks;
  for (int channel = 0; channel < channels; channel += kBlock, ++block) {
    const int count = channels - channel;
    Sums sums = {};
    for (int tap = 0; tap < groups; ++tap, values += kBlock) {
      const auto [low, high] = load_wide(taps[tap] + channel, count);
      const int16x8_t first = vld1q_s16(values);
      const int16x8_t second = vld1q_s16(values + 8);
      sums.parts[0] = vmlal_s16(sums.parts[0], vget_low_s16(low), vget_low_s16(first));
      sums.parts[1] = vmlal_high_s16(sums.parts[1], low, first);
      sums.parts[2] = vmlal_s16(sums.parts[2], vget_low_s16(high), vget_low_s16(second));
      sums.parts[3] = vmlal_high_s16(sums.parts[3], high, second);
    }
    finish(sums, *block, numbers.low, numbers.high, out + channel, count);
  }
}

/// One multiplier, bias and shift for all lanes, in 64 bits as in the definition.
struct Uniform {
  int32x2_t multiplier;
  int64x2_t bias;
  int64x2_t right;
};

Uniform uniform(const Requantize& r) {
  return {vdup_n_s32(static_cast<std::int32_t>(r.multiplier)), vdupq_n_s64(r.bias),
          vdupq_n_s64(-r.shift)};
}

int32x4_t shift_right(int64x2_t low, int64x2_t high, int64x2_t right) {
  return vcombine_s32(vqmovn_s64(vshlq_s64(low, right)), vqmovn_s64(vshlq_s64(high, right)));
}

int32x4_t requantize(int32x4_t x, const Uniform& u) {
  return shift_right(vmlal_s32(u.bias, vget_low_s32(x), u.multiplier),
                     vmlal_s32(u.bias, vget_high_s32(x), u.multiplier), u.right);
}

/// 16 values in 32 bits.
Sums widen(int8x16_t x) {
  const int16x8_t low = vmovl_s8(vget_low_s8(x));
  const int16x8_t high = vmovl_high_s8(x);
  return {{vmovl_s16(vget_low_s16(low)), vmovl_high_s16(low), vmovl_s16(vget_low_s16(high)),
           vmovl_high_s16(high)}};
}

int32x4_t sum(int32x4_t a, int32x4_t b, const Add& op, int64x2_t bias, int64x2_t right) {
  const int32x2_t multiplier_a = vdup_n_s32(op.multipliers[0]);
  const int32x2_t multiplier_b = vdup_n_s32(op.multipliers[1]);
  const int64x2_t low =
      vmlal_s32(vmlal_s32(bias, vget_low_s32(a), multiplier_a), vget_low_s32(b), multiplier_b);
  const int64x2_t high =
      vmlal_s32(vmlal_s32(bias, vget_high_s32(a), multiplier_a), vget_high_s32(b), multiplier_b);
  return shift_right(low, high, right);
}

}  // namespace

const GemmUnit kGemm = {.packing = kPacking,
                        .rows = kRows,
                        .element_bytes = 2,
                        .pack = pack,
                        .multiply = multiply<std::int8_t>};

const GemmUnit16 kGemm16 = {.packing = kPacking,
                            .rows = kRows,
                            .element_bytes = 2,
                            .pack = copy_values,
                            .multiply = multiply<std::int16_t>,
                            .sum_up = sum_up};

const DepthwiseUnit kDepthwise = {.packing = kPacking, .convolve = convolve<std::int8_t>};
const DepthwiseUnit16 kDepthwise16 = {.packing = kPacking, .convolve = convolve<std::int16_t>};

void add(const Add& op, const std::int8_t* a, const std::int8_t* b, std::int8_t* out) {
  const int64x2_t bias = vdupq_n_s64(op.bias);
  const int64x2_t right = vdupq_n_s64(-op.shift);
  for (std::int64_t i = 0; i < op.count; i += kBlock) {
    const int count = static_cast<int>(op.count - i < kBlock ? op.count - i : kBlock);
    const Sums x = widen(load_some(a + i, count));
    const Sums y = widen(load_some(b + i, count));
    Sums made;
    for (int part = 0; part < 4; ++part) {
      made.parts[part] = sum(x.parts[part], y.parts[part], op, bias, right);
    }
    store(out + i, narrow(made, op.low, op.high), count);
  }
}

void mul(const Mul& op, const std::int8_t* a, const std::int8_t* b, std::int8_t* out) {
  const Uniform u = uniform(op.requantize);
  const int32x4_t zero_a = vdupq_n_s32(op.zero_point_a);
  const int32x4_t zero_b = vdupq_n_s32(op.zero_point_b);
  for (int i = 0; i < op.outer; ++i, b += op.inner) {
    for (int row = 0; row < op.rows; ++row, a += op.inner, out += op.inner) {
      for (int j = 0; j < op.inner; j += kBlock) {
        const int count = op.inner - j;
        const Sums x = widen(load_some(a + j, count));
        const Sums y = widen(load_some(b + j, count));
        Sums made;
        for (int part = 0; part < 4; ++part) {
          const int32x4_t product =
              vmulq_s32(vsubq_s32(x.parts[part], zero_a), vsubq_s32(y.parts[part], zero_b));
          made.parts[part] = requantize(product, u);
        }
        store(out + j, narrow(made, op.requantize.low, op.requantize.high), count);
      }
    }
  }
}

void global_pool(const AvgPool2d& op, const std::int8_t* in, std::int8_t* out) {
  const Window& w = op.window;
  const Uniform u = uniform(op.requantize);
  const int pixels = w.in_height * w.in_width;
  for (int image = 0; image < w.batch; ++image) {
    for (int channel = 0; channel < w.in_channels; channel += kBlock) {
      const int count = w.in_channels - channel;
      Sums sums = {};
      for (int pixel = 0; pixel < pixels; ++pixel) {
        const Sums x = widen(load_some(in + std::int64_t{pixel} * w.in_channels + channel, count));
        for (int part = 0; part < 4; ++part) {
          sums.parts[part] = vaddq_s32(sums.parts[part], x.parts[part]);
        }
      }
      for (int part = 0; part < 4; ++part) {
        sums.parts[part] = requantize(sums.parts[part], u);
      }
      store(out + channel, narrow(sums, op.requantize.low, op.requantize.high), count);
    }
    in += std::int64_t{pixels} * w.in_channels;
    out += w.in_channels;
  }
}

void table(const std::int8_t* results, std::int64_t count, const std::int8_t* in,
           std::int8_t* out) {
  const int8x16x4_t quarters[4] = {vld1q_s8_x4(results), vld1q_s8_x4(results + 64),
                                   vld1q_s8_x4(results + 128), vld1q_s8_x4(results + 192)};
  const uint8x16_t quarter = vdupq_n_u8(64);
  for (std::int64_t i = 0; i < count; i += kBlock) {
    const int some = static_cast<int>(count - i < kBlock ? count - i : kBlock);
    // With its sign turned a value is its place; a place past the quarter gives nothing.
    uint8x16_t place = vreinterpretq_u8_s8(veorq_s8(load_some(in + i, some), vdupq_n_s8(-128)));
    int8x16_t found = vqtbl4q_s8(quarters[0], place);
    for (int j = 1; j < 4; ++j) {
      place = vsubq_u8(place, quarter);
      found = vqtbx4q_s8(found, quarters[j], place);
    }
    store(out + i, found, some);
  }
}

}  // namespace fixedpoint::neon
