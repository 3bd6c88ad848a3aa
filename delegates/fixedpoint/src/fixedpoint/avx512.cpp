#include "fixedpoint/packed_conv.h"
#include "fixedpoint/x86.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <immintrin.h>

#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx512vbmi")

namespace fixedpoint::avx512 {
namespace {

constexpr int kRows = 12;
constexpr int kTileBlocks = 2;
constexpr int kGroup = 4;
/// vpdpbusd multiplies unsigned activations: int8 with its sign bit turned is the value plus 128.
constexpr int kOffset = 128;
constexpr int kDepthwiseChannels = 64;
constexpr std::uint16_t kOddLanes = 0xAAAA;

struct Numbers {
  __m512i left, multiplier, odd_multiplier, even_bias, odd_bias, right;
};

Numbers load(const BlockNumbers& block) {
  return {_mm512_load_si512(block.left),           _mm512_load_si512(block.multiplier),
          _mm512_load_si512(block.odd_multiplier), _mm512_load_si512(block.even_bias),
          _mm512_load_si512(block.odd_bias),       _mm512_load_si512(block.right)};
}

/// 16 results in 32 bits, before the clamp. See BlockNumbers.
__m512i requantize(__m512i sums, const Numbers& n) {
  const __m512i x = _mm512_sllv_epi32(sums, n.left);
  const __m512i even = _mm512_add_epi64(_mm512_mul_epi32(x, n.multiplier), n.even_bias);
  const __m512i odd =
      _mm512_add_epi64(_mm512_mul_epi32(_mm512_srli_epi64(x, 32), n.odd_multiplier), n.odd_bias);
  const __m512i upper = _mm512_mask_blend_epi32(kOddLanes, _mm512_srli_epi64(even, 32), odd);
  return _mm512_srav_epi32(upper, n.right);
}

void pack(const std::int8_t* in, int count, std::byte* packed) {
  const __m512i sign = _mm512_set1_epi8(-128);
  int i = 0;
  for (; i + 64 <= count; i += 64) {
    _mm512_storeu_si512(packed + i, _mm512_xor_si512(_mm512_loadu_si512(in + i), sign));
  }
  if (i < count) {
    const __mmask64 rest = ~std::uint64_t{0} >> (64 - (count - i));
    _mm512_mask_storeu_epi8(packed + i, rest,
                            _mm512_xor_si512(_mm512_maskz_loadu_epi8(rest, in + i), sign));
  }
}

/// The sums of a tile's rows, one member each: an array of them would live in memory.
template <int kCount, int kBlocks>
struct Rows {
  __m512i first, second;
  Rows<kCount - 1, kBlocks> rest;

  [[gnu::always_inline]] void start(__m512i first_start, __m512i second_start) {
    first = first_start;
    second = second_start;
    rest.start(first_start, second_start);
  }
  [[gnu::always_inline]] void add(const std::byte* a, std::ptrdiff_t stride, __m512i first_weights,
                                  __m512i second_weights) {
    std::int32_t values = 0;
    std::memcpy(&values, a, sizeof values);
    const __m512i x = _mm512_set1_epi32(values);
    first = _mm512_dpbusd_epi32(first, x, first_weights);
    if constexpr (kBlocks > 1) {
      second = _mm512_dpbusd_epi32(second, x, second_weights);
    }
    rest.add(a + stride, stride, first_weights, second_weights);
  }
  [[gnu::always_inline]] void finish(const Numbers& n, bool is_second, __m128i low, __m128i high,
                                     __mmask16 mask, std::int8_t* out, std::ptrdiff_t stride) {
    const __m128i bytes = _mm512_cvtsepi32_epi8(requantize(is_second ? second : first, n));
    _mm_mask_storeu_epi8(out, mask, _mm_min_epi8(_mm_max_epi8(bytes, low), high));
    rest.finish(n, is_second, low, high, mask, out + stride, stride);
  }
};

template <int kBlocks>
struct Rows<0, kBlocks> {
  void start(__m512i /*first*/, __m512i /*second*/) {}
  void add(const std::byte* /*a*/, std::ptrdiff_t /*stride*/, __m512i /*first*/,
           __m512i /*second*/) {}
  void finish(const Numbers& /*n*/, bool /*is_second*/, __m128i /*low*/, __m128i /*high*/,
              __mmask16 /*mask*/, std::int8_t* /*out*/, std::ptrdiff_t /*stride*/) {}
};

__mmask16 mask_of(int count) {
  return static_cast<__mmask16>(count >= kBlock ? 0xFFFF : (1 << count) - 1);
}

/// A tile of `kCount` rows and as many blocks of channels as there are; weights always lie for two.
template <int kCount, int kBlocks>
void multiply_rows(const std::byte* a, std::ptrdiff_t a_stride, const std::byte* b, int groups,
                   const TileNumbers& numbers, std::int8_t* out, std::ptrdiff_t out_stride,
                   int channels) {
  Rows<kCount, kBlocks> rows;
  rows.start(_mm512_load_si512(numbers.blocks[0].start),
             _mm512_load_si512(numbers.blocks[1].start));
  for (int group = 0; group < groups; ++group) {
    rows.add(a + group * kGroup, a_stride, _mm512_load_si512(b), _mm512_load_si512(b + 64));
    b += 64 * kTileBlocks;
  }
  const __m128i low = _mm_set1_epi8(static_cast<char>(numbers.low));
  const __m128i high = _mm_set1_epi8(static_cast<char>(numbers.high));
  rows.finish(load(numbers.blocks[0]), false, low, high, mask_of(channels), out, out_stride);
  if constexpr (kBlocks > 1) {
    rows.finish(load(numbers.blocks[1]), true, low, high, mask_of(channels - kBlock), out + kBlock,
                out_stride);
  }
}

using Multiply = void (*)(const std::byte*, std::ptrdiff_t, const std::byte*, int,
                          const TileNumbers&, std::int8_t*, std::ptrdiff_t, int);

template <int kBlocks>
struct Tiles {
  Multiply by_rows[kRows + 1] = {nullptr,
                                 multiply_rows<1, kBlocks>,
                                 multiply_rows<2, kBlocks>,
                                 multiply_rows<3, kBlocks>,
                                 multiply_rows<4, kBlocks>,
                                 multiply_rows<5, kBlocks>,
                                 multiply_rows<6, kBlocks>,
                                 multiply_rows<7, kBlocks>,
                                 multiply_rows<8, kBlocks>,
                                 multiply_rows<9, kBlocks>,
                                 multiply_rows<10, kBlocks>,
                                 multiply_rows<11, kBlocks>,
                                 multiply_rows<12, kBlocks>};
};

constexpr Tiles<1> kNarrow;
constexpr Tiles<2> kWide;

void multiply(const std::byte* a, std::ptrdiff_t a_stride, int rows, const std::byte* b, int groups,
              const TileNumbers& numbers, std::int8_t* out, std::ptrdiff_t out_stride,
              int channels) {
  const Multiply by_rows = channels <= kBlock ? kNarrow.by_rows[rows] : kWide.by_rows[rows];
  by_rows(a, a_stride, b, groups, numbers, out, out_stride, channels);
}

/// Four taps of 64 channels, interleaved so that each 32-bit lane has the taps of one channel.
/// Lane e of part j holds channel 16 * (e / 4) + 4 * j + e % 4.
struct Interleaved {
  __m512i parts[4];
};

Interleaved interleave(const std::int8_t* const* taps, int channel, __mmask64 mask) {
  const __m512i sign = _mm512_set1_epi8(-128);
  __m512i t[kGroup];
#pragma GCC unroll 4
  for (int i = 0; i < kGroup; ++i) {
    t[i] = _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, taps[i] + channel), sign);
  }
  const __m512i low01 = _mm512_unpacklo_epi8(t[0], t[1]);
  const __m512i high01 = _mm512_unpackhi_epi8(t[0], t[1]);
  const __m512i low23 = _mm512_unpacklo_epi8(t[2], t[3]);
  const __m512i high23 = _mm512_unpackhi_epi8(t[2], t[3]);
  return {{_mm512_unpacklo_epi16(low01, low23), _mm512_unpackhi_epi16(low01, low23),
           _mm512_unpacklo_epi16(high01, high23), _mm512_unpackhi_epi16(high01, high23)}};
}

int depthwise_channel(int position) {
  const int part = position / kBlock;
  const int lane = position % kBlock;
  return 16 * (lane / 4) + 4 * part + lane % 4;
}

int same_channel(int position) { return position; }

void convolve(const std::int8_t* const* taps, int groups, const std::byte* weights,
              const TileNumbers& numbers, int channels, std::int8_t* out) {
  const __m512i low = _mm512_set1_epi8(static_cast<char>(numbers.low));
  const __m512i high = _mm512_set1_epi8(static_cast<char>(numbers.high));
  const BlockNumbers* blocks = numbers.blocks;
  for (int channel = 0; channel < channels; channel += kDepthwiseChannels, blocks += 4) {
    const int count = channels - channel;
    const __mmask64 mask = ~std::uint64_t{0} >> (count >= 64 ? 0 : 64 - count);
    __m512i sums[4];
#pragma GCC unroll 4
    for (int part = 0; part < 4; ++part) {
      sums[part] = _mm512_load_si512(blocks[part].start);
    }
    for (int group = 0; group < groups; ++group, weights += 256) {
      const Interleaved x = interleave(taps + group * kGroup, channel, mask);
#pragma GCC unroll 4
      for (int part = 0; part < 4; ++part) {
        sums[part] =
            _mm512_dpbusd_epi32(sums[part], x.parts[part], _mm512_load_si512(weights + 64 * part));
      }
    }
#pragma GCC unroll 4
    for (int part = 0; part < 4; ++part) {
      sums[part] = requantize(sums[part], load(blocks[part]));
    }
    // Packing within 128-bit lanes undoes the order of `interleave`.
    const __m512i bytes = _mm512_packs_epi16(_mm512_packs_epi32(sums[0], sums[1]),
                                             _mm512_packs_epi32(sums[2], sums[3]));
    _mm512_mask_storeu_epi8(out + channel, mask,
                            _mm512_min_epi8(_mm512_max_epi8(bytes, low), high));
  }
}

}  // namespace

const GemmUnit kGemm = {.packing = {.channels = kTileBlocks * kBlock,
                                    .group = kGroup,
                                    .weight_bytes = 1,
                                    .activation_offset = kOffset,
                                    .channel_of = same_channel},
                        .rows = kRows,
                        .element_bytes = 1,
                        .pack = pack,
                        .multiply = multiply};

const DepthwiseUnit kDepthwise = {.packing = {.channels = kDepthwiseChannels,
                                              .group = kGroup,
                                              .weight_bytes = 1,
                                              .activation_offset = kOffset,
                                              .channel_of = depthwise_channel},
                                  .convolve = convolve};

bool is_supported() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vbmi");
}

void table(const std::int8_t* results, std::int64_t count, const std::int8_t* in,
           std::int8_t* out) {
  // Bytes index 128 results by their low seven bits: non-negative values lie in the upper half.
  const __m512i n0 = _mm512_loadu_si512(results);
  const __m512i n1 = _mm512_loadu_si512(results + 64);
  const __m512i p0 = _mm512_loadu_si512(results + 128);
  const __m512i p1 = _mm512_loadu_si512(results + 192);
  for (std::int64_t i = 0; i < count; i += 64) {
    const __mmask64 mask = ~std::uint64_t{0} >> (count - i >= 64 ? 0 : 64 - (count - i));
    const __m512i x = _mm512_maskz_loadu_epi8(mask, in + i);
    const __m512i negative = _mm512_permutex2var_epi8(n0, x, n1);
    const __m512i positive = _mm512_permutex2var_epi8(p0, x, p1);
    _mm512_mask_storeu_epi8(out + i, mask,
                            _mm512_mask_blend_epi8(_mm512_movepi8_mask(x), positive, negative));
  }
}

}  // namespace fixedpoint::avx512
