#include "fixedpoint/avx512_block.h"
#include "fixedpoint/packed_conv.h"
#include "fixedpoint/turn_signs.h"
#include "fixedpoint/x86.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <immintrin.h>

#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx512vbmi")

namespace fixedpoint::avx512 {
namespace {

constexpr int kGroup = 4;
constexpr int kDepthwiseChannels = 64;
constexpr int kColumnBytes = kDepthwiseChannels * kGroup;  ///< Of the weights of up to four taps.

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

int interleaved_channel(int position, int /*channels*/) {
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
      const __m512i w = _mm512_load_si512(weights + kColumnBytes * column + 64 * part);
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

/// Windows along a row that are finished together: their bytes fill a vector.
constexpr int kWindows = 4;

/// What brings three taps of 16 channels into 32-bit lanes of a channel each.
struct TapOrder {
  __m512i bytes, sign;
};

TapOrder tap_order() {
  alignas(64) std::int8_t bytes[64];
  for (int i = 0; i < 64; ++i) {
    bytes[i] = static_cast<std::int8_t>(16 * (i % kGroup) + i / kGroup);
  }
  return {_mm512_load_si512(bytes), _mm512_set1_epi8(-128)};
}

template <bool kIsWhole>
[[gnu::always_inline]] inline __m128i load_channels(const std::int8_t* in, __mmask16 mask) {
  return kIsWhole ? _mm_loadu_si128(reinterpret_cast<const __m128i*>(in))
                  : _mm_maskz_loadu_epi8(mask, in);
}

/// Three taps of up to 16 channels, one above the other. The fourth tap's weights are zero, so that
/// any value will do.
template <bool kIsWhole>
[[gnu::always_inline]] inline __m512i load_column(const DepthwiseRow& row, int column, int channel,
                                                  __mmask16 mask, const TapOrder& order) {
  const bool is_inside = column >= 0 && column < row.in_width;
  const std::int8_t* pixels[3];
#pragma GCC unroll 3
  for (int i = 0; i < 3; ++i) {
    pixels[i] = (is_inside ? row.rows[i] + column * row.steps[i] : row.padding) + channel;
  }
  __m512i taps = _mm512_castsi128_si512(load_channels<kIsWhole>(pixels[0], mask));
  taps = _mm512_mask_broadcast_i32x4(taps, 0x00F0, load_channels<kIsWhole>(pixels[1], mask));
  taps = _mm512_mask_broadcast_i32x4(taps, 0x0F00, load_channels<kIsWhole>(pixels[2], mask));
  return _mm512_permutexvar_epi8(order.bytes, _mm512_xor_si512(taps, order.sign));
}

/// The bytes of some windows, 16 each: where there are no more channels they lie side by side.
template <bool kIsWhole>
[[gnu::always_inline]] inline void store_windows(std::int8_t* out, __m512i bytes, int windows,
                                                 int channels, __mmask16 mask) {
  if (kIsWhole && channels == kBlock) {
    store_bytes(out, bytes, std::int64_t{kBlock} * windows);
    return;
  }
  const __m128i each[kWindows] = {
      _mm512_castsi512_si128(bytes), _mm512_extracti32x4_epi32(bytes, 1),
      _mm512_extracti32x4_epi32(bytes, 2), _mm512_extracti32x4_epi32(bytes, 3)};
#pragma GCC unroll 4
  for (int i = 0; i < kWindows; ++i) {
    if (i < windows) {
      _mm_mask_storeu_epi8(out + std::ptrdiff_t{channels} * i, mask, each[i]);
    }
  }
}

/// One row of up to 16 channels. Each column of the input is put in order once and serves the
/// windows that it lies in.
template <int kStride, bool kHasLeft, bool kIsWhole>
void convolve_block(const DepthwiseRow& row, const std::byte* weights, const TileNumbers& numbers,
                    const BlockNumbers* block, int channel, int channels, std::int8_t* out) {
  constexpr int kKept = 3 - kStride;
  constexpr int kColumns = kKept + kWindows * kStride;
  const int count = std::min(channels - channel, kBlock);
  const auto mask = static_cast<__mmask16>((1U << count) - 1);
  const TapOrder order = tap_order();
  const Clamp clamp = clamp_of(numbers);
  const Numbers n = load(*block);
  const __m512i start = _mm512_load_si512(block->start);
  const __m512i w[3] = {_mm512_load_si512(weights), _mm512_load_si512(weights + kColumnBytes),
                        _mm512_load_si512(weights + 2 * kColumnBytes)};
  __m512i x[kColumns];
  int column = row.first_column;
#pragma GCC unroll 2
  for (int i = 0; i < kKept; ++i) {
    x[i] = load_column<kIsWhole>(row, column + i, channel, mask, order);
  }
  for (int pixel = 0; pixel < row.out_width; pixel += kWindows, column += kWindows * kStride) {
#pragma GCC unroll 8
    for (int i = kKept; i < kColumns; ++i) {
      x[i] = load_column<kIsWhole>(row, column + i, channel, mask, order);
    }
    __m512i sums[kWindows];
#pragma GCC unroll 4
    for (int i = 0; i < kWindows; ++i) {
      sums[i] = _mm512_dpbusd_epi32(start, x[kStride * i], w[0]);
      sums[i] = _mm512_dpbusd_epi32(sums[i], x[kStride * i + 1], w[1]);
      sums[i] = _mm512_dpbusd_epi32(sums[i], x[kStride * i + 2], w[2]);
      sums[i] = requantize<kHasLeft>(sums[i], n);
    }
    store_windows<kIsWhole>(out, narrow(sums[0], sums[1], sums[2], sums[3], clamp),
                            std::min(kWindows, row.out_width - pixel), channels, mask);
    out += std::ptrdiff_t{kWindows} * channels;
#pragma GCC unroll 2
    for (int i = 0; i < kKept; ++i) {
      x[i] = x[i + kWindows * kStride];
    }
  }
}

using ConvolveSome = void (*)(const DepthwiseRow&, const std::byte*, const TileNumbers&,
                              const BlockNumbers*, int, int, std::int8_t*);

/// Of a stride of one and of two.
using ByStride = ConvolveSome[2];

constexpr ByStride kWide[2] = {{convolve_channels<1, false>, convolve_channels<2, false>},
                               {convolve_channels<1, true>, convolve_channels<2, true>}};
constexpr ByStride kWholeBlock[2] = {
    {convolve_block<1, false, true>, convolve_block<2, false, true>},
    {convolve_block<1, true, true>, convolve_block<2, true, true>}};
constexpr ByStride kPartOfBlock[2] = {
    {convolve_block<1, false, false>, convolve_block<2, false, false>},
    {convolve_block<1, true, false>, convolve_block<2, true, false>}};

/// Up to so many channels are faster block by block: four blocks at once leave lanes empty.
constexpr int kMostInBlocks = 3 * kBlock;

int row_channel(int position, int channels) {
  return channels <= kMostInBlocks ? position : interleaved_channel(position, channels);
}

void convolve_row(const DepthwiseRow& row, int stride, const std::byte* weights,
                  const TileNumbers& numbers, int channels, std::int8_t* out) {
  const BlockNumbers* blocks = numbers.blocks;
  int channel = 0;
  for (; channels - channel > kMostInBlocks; channel += kDepthwiseChannels, blocks += 4) {
    const auto* convolve_these = kWide[has_left_in_four(blocks) ? 1 : 0];
    convolve_these[stride - 1](row, weights, numbers, blocks, channel, channels, out + channel);
    weights += std::ptrdiff_t{3} * kColumnBytes;
  }
  for (; channel < channels; channel += kBlock, ++blocks, weights += kBlock * kGroup) {
    const auto& kinds = channels - channel >= kBlock ? kWholeBlock : kPartOfBlock;
    const auto* convolve_these = kinds[has_left(*blocks) ? 1 : 0];
    convolve_these[stride - 1](row, weights, numbers, blocks, channel, channels, out + channel);
  }
}

/// Columns in turn, four places each.
int column_tap(int tap) { return tap % 3 * kGroup + tap / 3; }

}  // namespace

const DepthwiseUnit kDepthwise = {.packing = {.channels = kDepthwiseChannels,
                                              .group = kGroup,
                                              .weight_bytes = 1,
                                              .activation_offset = kTurnedSign,
                                              .channel_of = interleaved_channel},
                                  .convolve = convolve,
                                  .rows = {.packing = {.channels = kDepthwiseChannels,
                                                       .group = kGroup,
                                                       .weight_bytes = 1,
                                                       .activation_offset = kTurnedSign,
                                                       .channel_of = row_channel,
                                                       .tap_of = column_tap},
                                           .convolve = convolve_row}};

}  // namespace fixedpoint::avx512
