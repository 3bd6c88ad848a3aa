#include "fixedpoint/neon.h"
#include "fixedpoint/neon_block.h"
#include "fixedpoint/packed_conv.h"

#include <arm_neon.h>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("arch=armv8.2-a+dotprod")
#endif

namespace fixedpoint::neon_dot {
namespace {

constexpr int kRows = 4;
constexpr int kGroup = 4;
/// Bytes of weights of one group.
constexpr int kGroupBytes = kGroup * kBlock;

void pack(const std::int8_t* in, int count, std::byte* packed) { std::memcpy(packed, in, count); }

/// Weights of 16 channels, four depths of each.
struct Weights {
  int8x16_t parts[4];
};

[[gnu::always_inline]] inline Weights load(const std::byte* b) {
  const auto* bytes = reinterpret_cast<const std::int8_t*>(b);
  return {{vld1q_s8(bytes), vld1q_s8(bytes + 16), vld1q_s8(bytes + 32), vld1q_s8(bytes + 48)}};
}

template <int kLane>
[[gnu::always_inline]] inline void add_lane(Sums& sums, int8x16_t x, const Weights& w) {
#pragma GCC unroll 4
  for (int part = 0; part < 4; ++part) {
    sums.parts[part] = vdotq_laneq_s32(sums.parts[part], w.parts[part], x, kLane);
  }
}

/// Four groups of all rows: a row's values stay in one register, each weight is read once.
template <int kCount, int kLane = 0>
[[gnu::always_inline]] inline void add_four(Sums* sums, const int8x16_t* x, const std::byte* b) {
  if constexpr (kLane < 4) {
    const Weights w = load(b + kGroupBytes * kLane);
#pragma GCC unroll 4
    for (int row = 0; row < kCount; ++row) {
      add_lane<kLane>(sums[row], x[row], w);
    }
    add_four<kCount, kLane + 1>(sums, x, b);
  }
}

int8x16_t broadcast(const std::int8_t* four) {
  std::int32_t values = 0;
  std::memcpy(&values, four, sizeof values);
  return vreinterpretq_s8_s32(vdupq_n_s32(values));
}

template <int kCount>
void multiply_rows(const std::byte* a, std::ptrdiff_t a_stride, const std::byte* b, int groups,
                   const TileNumbers& numbers, std::int8_t* out, std::ptrdiff_t out_stride,
                   int channels) {
  const auto* values = reinterpret_cast<const std::int8_t*>(a);
  Sums sums[kCount] = {};
  int group = 0;
  for (; group + 4 <= groups; group += 4, b += 4 * kGroupBytes) {
    int8x16_t x[kCount];
#pragma GCC unroll 4
    for (int row = 0; row < kCount; ++row) {
      x[row] = vld1q_s8(values + row * a_stride + group * kGroup);
    }
    add_four<kCount>(sums, x, b);
  }
  for (; group < groups; ++group, b += kGroupBytes) {
    const Weights w = load(b);
#pragma GCC unroll 4
    for (int row = 0; row < kCount; ++row) {
      add_lane<0>(sums[row], broadcast(values + row * a_stride + group * kGroup), w);
    }
  }
#pragma GCC unroll 4
  for (int row = 0; row < kCount; ++row) {
    finish(sums[row], *numbers.blocks, numbers.low, numbers.high, out + row * out_stride, channels);
  }
}

void multiply(const std::byte* a, std::ptrdiff_t a_stride, int rows, const std::byte* b, int groups,
              const TileNumbers& numbers, std::int8_t* out, std::ptrdiff_t out_stride,
              int channels) {
  static constexpr Multiply kByRows[kRows + 1] = {nullptr, multiply_rows<1>, multiply_rows<2>,
                                                  multiply_rows<3>, multiply_rows<4>};
  kByRows[rows](a, a_stride, b, groups, numbers, out, out_stride, channels);
}

/// Four taps of 16 channels, interleaved so that each 32-bit lane has the taps of one channel.
[[gnu::always_inline]] inline Weights interleave(const std::int8_t* const* taps, int channel,
                                                 int count) {
  const int8x16_t t0 = load_some(taps[0] + channel, count);
  const int8x16_t t1 = load_some(taps[1] + channel, count);
  const int8x16_t t2 = load_some(taps[2] + channel, count);
  const int8x16_t t3 = load_some(taps[3] + channel, count);
  const int16x8_t low01 = vreinterpretq_s16_s8(vzip1q_s8(t0, t1));
  const int16x8_t high01 = vreinterpretq_s16_s8(vzip2q_s8(t0, t1));
  const int16x8_t low23 = vreinterpretq_s16_s8(vzip1q_s8(t2, t3));
  const int16x8_t high23 = vreinterpretq_s16_s8(vzip2q_s8(t2, t3));
  return {{vreinterpretq_s8_s16(vzip1q_s16(low01, low23)),
           vreinterpretq_s8_s16(vzip2q_s16(low01, low23)),
           vreinterpretq_s8_s16(vzip1q_s16(high01, high23)),
           vreinterpretq_s8_s16(vzip2q_s16(high01, high23))}};
}

void convolve(const std::int8_t* const* taps, int groups, const std::byte* weights,
              const TileNumbers& numbers, int channels, std::int8_t* out) {
  const BlockNumbers* block = numbers.blocks;
  for (int channel = 0; channel < channels; channel += kBlock, ++block) {
    const int count = channels - channel;
    Sums sums = {};
    for (int group = 0; group < groups; ++group, weights += kGroupBytes) {
      const Weights x = interleave(taps + group * kGroup, channel, count);
      const Weights w = load(weights);
#pragma GCC unroll 4
      for (int part = 0; part < 4; ++part) {
        sums.parts[part] = vdotq_s32(sums.parts[part], x.parts[part], w.parts[part]);
      }
    }
    finish(sums, *block, numbers.low, numbers.high, out + channel, count);
  }
}

}  // namespace

const GemmUnit kGemm = {.packing = {.channels = kBlock,
                                    .group = kGroup,
                                    .weight_bytes = 1,
                                    .activation_offset = 0,
                                    .channel_of = same_channel},
                        .rows = kRows,
                        .element_bytes = 1,
                        .pack = pack,
                        .multiply = multiply};

const DepthwiseUnit kDepthwise = {.packing = {.channels = kBlock,
                                              .group = kGroup,
                                              .weight_bytes = 1,
                                              .activation_offset = 0,
                                              .channel_of = same_channel},
                                  .convolve = convolve};

}  // namespace fixedpoint::neon_dot
