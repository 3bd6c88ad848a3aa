#include "fixedpoint/avx512_block.h"
#include "fixedpoint/packed_conv.h"
#include "fixedpoint/turn_signs.h"
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
constexpr int kDepthwiseChannels = 64;

/// From 16 to 32 bytes, by two vectors that overlap.
[[gnu::always_inline]] inline void pack_some(const std::int8_t* in, int count, std::byte* packed) {
  const __m128i sign = _mm_set1_epi8(-128);
  const int place = count - 16;
  const auto* last = reinterpret_cast<const __m128i*>(in + place);
  const __m128i second = _mm_xor_si128(_mm_loadu_si128(last), sign);
  const auto* first = reinterpret_cast<const __m128i*>(in);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(packed), _mm_xor_si128(_mm_loadu_si128(first), sign));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(packed + place), second);
}

void pack(const std::int8_t* in, int count, std::byte* packed) {
  if (count < 16) {
    turn_signs_of_few(in, count, packed);
    return;
  }
  if (count <= 32) {
    pack_some(in, count, packed);
    return;
  }
  const __m512i sign = _mm512_set1_epi8(-128);
  int i = 0;
  for (; i + 64 <= count; i += 64) {
    _mm512_storeu_si512(packed + i, _mm512_xor_si512(_mm512_loadu_si512(in + i), sign));
  }
  if (i < count) {
    const __mmask64 rest = ~std::uint64_t{0} >> (64 - (count - i));
    store_bytes(packed + i, _mm512_xor_si512(_mm512_maskz_loadu_epi8(rest, in + i), sign),
                count - i);
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
  template <bool kHasLeft>
  [[gnu::always_inline]] void requantize_first(const Numbers& n) {
    first = requantize<kHasLeft>(first, n);
    rest.template requantize_first<kHasLeft>(n);
  }
  template <bool kHasLeft>
  [[gnu::always_inline]] void requantize_second(const Numbers& n) {
    second = requantize<kHasLeft>(second, n);
    rest.template requantize_second<kHasLeft>(n);
  }
  /// Two rows at a time.
  [[gnu::always_inline]] void store(const Clamp& clamp, int channels, std::int8_t* out,
                                    std::ptrdiff_t stride) {
    if constexpr (kCount == 1) {
      store_bytes(out, narrow(first, second, first, second, clamp), channels);
    } else {
      const __m512i bytes = narrow(first, second, rest.first, rest.second, clamp);
      store_two_rows(out, stride, bytes, channels);
      rest.rest.store(clamp, channels, out + 2 * stride, stride);
    }
  }
};

template <int kBlocks>
struct Rows<0, kBlocks> {
  void start(__m512i /*first*/, __m512i /*second*/) {}
  void add(const std::byte* /*a*/, std::ptrdiff_t /*stride*/, __m512i /*first*/,
           __m512i /*second*/) {}
  template <bool kHasLeft>
  void requantize_first(const Numbers& /*n*/) {}
  template <bool kHasLeft>
  void requantize_second(const Numbers& /*n*/) {}
  void store(const Clamp& /*clamp*/, int /*channels*/, std::int8_t* /*out*/,
             std::ptrdiff_t /*stride*/) {}
};

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
  if (has_left(numbers.blocks[0])) {
    rows.template requantize_first<true>(load(numbers.blocks[0]));
  } else {
    rows.template requantize_first<false>(load(numbers.blocks[0]));
  }
  if constexpr (kBlocks > 1) {
    if (has_left(numbers.blocks[1])) {
      rows.template requantize_second<true>(load(numbers.blocks[1]));
    } else {
      rows.template requantize_second<false>(load(numbers.blocks[1]));
    }
  }
  rows.store(clamp_of(numbers), channels, out, out_stride);
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

/// Bounds of all bytes of a vector.
struct Bounds {
  __m512i low, high;
};

Bounds bounds_of(const TileNumbers& numbers) {
  return {_mm512_set1_epi8(static_cast<char>(numbers.low)),
          _mm512_set1_epi8(static_cast<char>(numbers.high))};
}

/// Packing within 128-bit lanes undoes the order of `interleave`.
[[gnu::always_inline]] inline __m512i narrow_in_lanes(const __m512i* results, const Bounds& b) {
  const __m512i bytes = _mm512_packs_epi16(_mm512_packs_epi32(results[0], results[1]),
                                           _mm512_packs_epi32(results[2], results[3]));
  return _mm512_min_epi8(_mm512_max_epi8(bytes, b.low), b.high);
}

bool has_left_in_four(const BlockNumbers* blocks) {
  return has_left(blocks[0]) || has_left(blocks[1]) || has_left(blocks[2]) || has_left(blocks[3]);
}

void convolve(const std::int8_t* const* taps, int groups, const std::byte* weights,
              const TileNumbers& numbers, int channels, std::int8_t* out) {
  const Bounds bounds = bounds_of(numbers);
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
    const bool shifts = has_left_in_four(blocks);
#pragma GCC unroll 4
    for (int part = 0; part < 4; ++part) {
      sums[part] = shifts ? requantize<true>(sums[part], load(blocks[part]))
                          : requantize<false>(sums[part], load(blocks[part]));
    }
    store_bytes(out + channel, narrow_in_lanes(sums, bounds), count);
  }
}

/// Three taps of 64 channels, one above the other, and zeros, as `interleave` leaves four.
[[gnu::always_inline]] inline Interleaved interleave_column(const DepthwiseRow& row, int column,
                                                            int channel, __mmask64 mask) {
  const bool is_inside = column >= 0 && column < row.in_width;
  const __m512i sign = _mm512_set1_epi8(-128);
  __m512i t[3];
#pragma GCC unroll 3
  for (int i = 0; i < 3; ++i) {
    const std::int8_t* pixel = is_inside ? row.rows[i] + column * row.steps[i] : row.padding;
    t[i] = _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, pixel + channel), sign);
  }
  // The fourth tap's weights are zero, so that any value will do.
  const __m512i low01 = _mm512_unpacklo_epi8(t[0], t[1]);
  const __m512i high01 = _mm512_unpackhi_epi8(t[0], t[1]);
  const __m512i low2 = _mm512_unpacklo_epi8(t[2], t[2]);
  const __m512i high2 = _mm512_unpackhi_epi8(t[2], t[2]);
  return {{_mm512_unpacklo_epi16(low01, low2), _mm512_unpackhi_epi16(low01, low2),
           _mm512_unpacklo_epi16(high01, high2), _mm512_unpackhi_epi16(high01, high2)}};
}

/// Two neighbouring windows of 64 channels, so that each weight and number is read once for both.
/// `x` are the columns of the first, and from `kStride` on those of the second.
template <int kStride, bool kHasLeft>
[[gnu::always_inline]] inline void convolve_two(const Interleaved* x, const std::byte* weights,
                                                const BlockNumbers* blocks, __m512i* first,
                                                __m512i* second) {
#pragma GCC unroll 4
  for (int part = 0; part < 4; ++part) {
    first[part] = second[part] = _mm512_load_si512(blocks[part].start);
#pragma GCC unroll 3
    for (int column = 0; column < 3; ++column) {
      const __m512i w = _mm512_load_si512(weights + 256 * column + 64 * part);
      first[part] = _mm512_dpbusd_epi32(first[part], x[column].parts[part], w);
      second[part] = _mm512_dpbusd_epi32(second[part], x[column + kStride].parts[part], w);
    }
    const Numbers n = load(blocks[part]);
    first[part] = requantize<kHasLeft>(first[part], n);
    second[part] = requantize<kHasLeft>(second[part], n);
  }
}

/// One row of 64 channels. Each column of the input is interleaved once and serves the windows
/// that it lies in.
template <int kStride, bool kHasLeft>
void convolve_channels(const DepthwiseRow& row, const std::byte* weights,
                       const TileNumbers& numbers, const BlockNumbers* blocks, int channel,
                       int channels, std::int8_t* out) {
  constexpr int kColumns = 3 + kStride;
  const int count = channels - channel;
  const __mmask64 mask = ~std::uint64_t{0} >> (count >= 64 ? 0 : 64 - count);
  const Bounds bounds = bounds_of(numbers);
  Interleaved x[kColumns];
  int column = row.first_column;
#pragma GCC unroll 3
  for (int i = 0; i < 3 - kStride; ++i) {
    x[i] = interleave_column(row, column + i, channel, mask);
  }
  for (int pixel = 0; pixel < row.out_width; pixel += 2, column += 2 * kStride) {
#pragma GCC unroll 4
    for (int i = 3 - kStride; i < kColumns; ++i) {
      x[i] = interleave_column(row, column + i, channel, mask);
    }
    __m512i first[4];
    __m512i second[4];
    convolve_two<kStride, kHasLeft>(x, weights, blocks, first, second);
    store_bytes(out, narrow_in_lanes(first, bounds), count);
    out += channels;
    if (pixel + 1 < row.out_width) {
      store_bytes(out, narrow_in_lanes(second, bounds), count);
    }
    out += channels;
#pragma GCC unroll 3
    for (int i = 0; i < 3 - kStride; ++i) {
      x[i] = x[i + 2 * kStride];
    }
  }
}

using ConvolveChannels = void (*)(const DepthwiseRow&, const std::byte*, const TileNumbers&,
                                  const BlockNumbers*, int, int, std::int8_t*);

void convolve_row(const DepthwiseRow& row, int stride, const std::byte* weights,
                  const TileNumbers& numbers, int channels, std::int8_t* out) {
  static constexpr ConvolveChannels kByStrideAndLeft[2][2] = {
      {convolve_channels<1, false>, convolve_channels<1, true>},
      {convolve_channels<2, false>, convolve_channels<2, true>}};
  const BlockNumbers* blocks = numbers.blocks;
  for (int channel = 0; channel < channels; channel += kDepthwiseChannels, blocks += 4) {
    const auto convolve_these = kByStrideAndLeft[stride - 1][has_left_in_four(blocks) ? 1 : 0];
    convolve_these(row, weights, numbers, blocks, channel, channels, out + channel);
    weights += 3 * 256;
  }
}

/// Columns in turn, four places each.
int column_tap(int tap) { return tap % 3 * kGroup + tap / 3; }

}  // namespace

const GemmUnit kGemm = {.packing = {.channels = kTileBlocks * kBlock,
                                    .group = kGroup,
                                    .weight_bytes = 1,
                                    .activation_offset = kTurnedSign,
                                    .channel_of = same_channel},
                        .rows = kRows,
                        .element_bytes = 1,
                        .pack = pack,
                        .multiply = multiply};

const DepthwiseUnit kDepthwise = {.packing = {.channels = kDepthwiseChannels,
                                              .group = kGroup,
                                              .weight_bytes = 1,
                                              .activation_offset = kTurnedSign,
                                              .channel_of = depthwise_channel},
                                  .convolve = convolve,
                                  .rows = {.packing = {.channels = kDepthwiseChannels,
                                                       .group = kGroup,
                                                       .weight_bytes = 1,
                                                       .activation_offset = kTurnedSign,
                                                       .channel_of = depthwise_channel,
                                                       .tap_of = column_tap},
                                           .convolve = convolve_row}};

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
    store_bytes(out + i, _mm512_mask_blend_epi8(_mm512_movepi8_mask(x), positive, negative),
                count - i);
  }
}

}  // namespace fixedpoint::avx512
