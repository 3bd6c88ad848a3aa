#include "fixedpoint/avx512_block.h"
#include "fixedpoint/packed_conv.h"
#include "fixedpoint/turn_signs.h"
#include "fixedpoint/x86.h"

#include <cstddef>
#include <cstdint>
#include <immintrin.h>

#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx512vbmi")

namespace fixedpoint::avx512 {
namespace {

constexpr int kGroup = 4;
constexpr int kDepthwiseChannels = 64;
constexpr int kColumnBytes =
    kDepthwiseChannels * kGroup;  ///< Bytes of the weights of up to four taps.

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

/// Packing within 128-bit lanes undoes the order of `interleave`.
[[gnu::always_inline]] inline __m512i narrow_in_lanes(const __m512i* results, const Clamp& b) {
  const __m512i bytes = _mm512_packs_epi16(_mm512_packs_epi32(results[0], results[1]),
                                           _mm512_packs_epi32(results[2], results[3]));
  return _mm512_min_epi8(_mm512_max_epi8(bytes, b.low), b.high);
}

bool has_left_in_four(const BlockNumbers* blocks) {
  return has_left(blocks[0]) || has_left(blocks[1]) || has_left(blocks[2]) || has_left(blocks[3]);
}

void convolve(const std::int8_t* const* taps, int groups, const std::byte* weights,
              const TileNumbers& numbers, int channels, std::int8_t* out) {
  const Clamp bounds = clamp_of(numbers);
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
template <bool kIsWhole>
[[gnu::always_inline]] inline Interleaved interleave_column(const DepthwiseRow& row, int column,
                                                            int channel, __mmask64 mask) {
  const bool is_inside = column >= 0 && column < row.in_width;
  const __m512i sign = _mm512_set1_epi8(-128);
  __m512i t[3];
#pragma GCC unroll 3
  for (int i = 0; i < 3; ++i) {
    const std::int8_t* pixel = is_inside ? row.rows[i] + column * row.steps[i] : row.padding;
    t[i] = kIsWhole ? _mm512_loadu_si512(pixel + channel)
                    : _mm512_maskz_loadu_epi8(mask, pixel + channel);
    t[i] = _mm512_xor_si512(t[i], sign);
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
    first[part] = second[part] = load_once(blocks[part].start);
#pragma GCC unroll 3
    for (int column = 0; column < 3; ++column) {
      const __m512i w = load_once(weights + kColumnBytes * column + 64 * part);
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
template <int kStride, bool kHasLeft, bool kIsWhole>
void convolve_channels(const DepthwiseRow& row, const std::byte* weights,
                       const TileNumbers& numbers, const BlockNumbers* blocks, int channel,
                       int channels, std::int8_t* out) {
  constexpr int kColumns = 3 + kStride;
  const int count = channels - channel;
  const __mmask64 mask = ~std::uint64_t{0} >> (count >= 64 ? 0 : 64 - count);
  const Clamp bounds = clamp_of(numbers);
  Interleaved x[kColumns];
  int column = row.first_column;
#pragma GCC unroll 3
  for (int i = 0; i < 3 - kStride; ++i) {
    x[i] = interleave_column<kIsWhole>(row, column + i, channel, mask);
  }
  for (int pixel = 0; pixel < row.out_width; pixel += 2, column += 2 * kStride) {
#pragma GCC unroll 4
    for (int i = 3 - kStride; i < kColumns; ++i) {
      x[i] = interleave_column<kIsWhole>(row, column + i, channel, mask);
    }
    __m512i first[4];
    __m512i second[4];
    convolve_two<kStride, kHasLeft>(x, weights, blocks, first, second);
    const int stored = kIsWhole ? kDepthwiseChannels : count;
    store_bytes(out, narrow_in_lanes(first, bounds), stored);
    out += channels;
    __m512i second_bytes = narrow_in_lanes(second, bounds);
    // Computed here, and not behind the branch: until then all that it needs would wait in memory.
    asm volatile("" : "+v"(second_bytes));
    if (pixel + 1 < row.out_width) {
      store_bytes(out, second_bytes, stored);
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

/// Byte order that brings four taps of 16 channels into 32-bit lanes of a channel each.
struct TapOrder {
  __m512i bytes, sign;
};

template <bool kIsWhole>
[[gnu::always_inline]] inline __m128i load_channels(const std::int8_t* in, __mmask16 mask) {
  return kIsWhole ? _mm_loadu_si128(reinterpret_cast<const __m128i*>(in))
                  : _mm_maskz_loadu_epi8(mask, in);
}

/// The taps of up to 16 channels, one above the other: four in each part. Weights of places that no
/// tap has are zero, so that any value will do there.
template <int kSize>
struct Column {
  static constexpr int kParts = (kSize + kGroup - 1) / kGroup;
  __m512i parts[kParts];
};

template <int kSize, bool kIsWhole>
[[gnu::always_inline]] inline Column<kSize> load_column(const DepthwiseRow& row, int column,
                                                        int channel, __mmask16 mask,
                                                        const TapOrder& order) {
  const bool is_inside = column >= 0 && column < row.in_width;
  __m128i taps[kSize];
#pragma GCC unroll 5
  for (int i = 0; i < kSize; ++i) {
    const std::int8_t* pixel = is_inside ? row.rows[i] + column * row.steps[i] : row.padding;
    taps[i] = load_channels<kIsWhole>(pixel + channel, mask);
  }
  __m512i four = _mm512_castsi128_si512(taps[0]);
  four = _mm512_mask_broadcast_i32x4(four, 0x00F0, taps[1]);
  four = _mm512_mask_broadcast_i32x4(four, 0x0F00, taps[2]);
  Column<kSize> made;
  if constexpr (kSize > kGroup) {
    four = _mm512_mask_broadcast_i32x4(four, 0xF000, taps[3]);
    made.parts[1] = _mm512_xor_si512(_mm512_cvtepu8_epi32(taps[4]), order.sign);
  }
  made.parts[0] = _mm512_permutexvar_epi8(order.bytes, _mm512_xor_si512(four, order.sign));
  return made;
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

/// Adds the products of some neighbouring windows of 16 channels, so that each weight is read once
/// for all; `kPartBytes` from the weights of four taps to the next.
template <int kSize, int kPartBytes, int kStride>
[[gnu::always_inline]] inline void convolve_windows(const Column<kSize>* columns,
                                                    const std::byte* weights, __m512i* sums) {
  constexpr int kParts = Column<kSize>::kParts;
#pragma GCC unroll 5
  for (int i = 0; i < kSize; ++i) {
#pragma GCC unroll 2
    for (int part = 0; part < kParts; ++part) {
      const __m512i w = load_once(weights + kPartBytes * (kParts * i + part));
#pragma GCC unroll 4
      for (int window = 0; window < kWindows; ++window) {
        const __m512i x = columns[kStride * window + i].parts[part];
        sums[window] = _mm512_dpbusd_epi32(sums[window], x, w);
      }
    }
  }
}

/// One row of up to 16 channels. Each column of the input is put in order once and serves the
/// windows that it lies in.
template <int kSize, int kPartBytes, int kStride, bool kHasLeft, bool kIsWhole>
void convolve_block(const DepthwiseRow& row, const std::byte* weights, const TileNumbers& numbers,
                    const BlockNumbers* block, int channel, int channels, std::int8_t* out) {
  constexpr int kKept = kSize - kStride;
  constexpr int kColumns = kKept + kWindows * kStride;
  const int count = channels - channel < kBlock ? channels - channel : kBlock;
  const auto mask = static_cast<__mmask16>((1U << count) - 1);
  const TapOrder order = {load_group_order(kGroup), _mm512_set1_epi8(-128)};
  const Clamp clamp = clamp_of(numbers);
  const Numbers n = load(*block);
  const __m512i start = load_once(block->start);
  Column<kSize> x[kColumns];
  int column = row.first_column;
#pragma GCC unroll 4
  for (int i = 0; i < kKept; ++i) {
    x[i] = load_column<kSize, kIsWhole>(row, column + i, channel, mask, order);
  }
  for (int pixel = 0; pixel < row.out_width; pixel += kWindows, column += kWindows * kStride) {
#pragma GCC unroll 8
    for (int i = kKept; i < kColumns; ++i) {
      x[i] = load_column<kSize, kIsWhole>(row, column + i, channel, mask, order);
    }
    __m512i sums[kWindows] = {start, start, start, start};
    convolve_windows<kSize, kPartBytes, kStride>(x, weights, sums);
#pragma GCC unroll 4
    for (__m512i& sum : sums) {
      sum = requantize<kHasLeft>(sum, n);
    }
    const int left = row.out_width - pixel;
    store_windows<kIsWhole>(out, narrow(sums[0], sums[1], sums[2], sums[3], clamp),
                            left < kWindows ? left : kWindows, channels, mask);
    out += std::ptrdiff_t{kWindows} * channels;
#pragma GCC unroll 4
    for (int i = 0; i < kKept; ++i) {
      x[i] = x[i + kWindows * kStride];
    }
  }
}

using ConvolveSome = void (*)(const DepthwiseRow&, const std::byte*, const TileNumbers&,
                              const BlockNumbers*, int, int, std::int8_t*);

/// Variants for strides of one and two, without and with shifts to the left.
struct ConvolveKinds {
  ConvolveSome without_left[2];
  ConvolveSome with_left[2];

  ConvolveSome choose(int stride, bool shifts) const {
    return (shifts ? with_left : without_left)[stride - 1];
  }
};

template <bool kIsWhole>
constexpr ConvolveKinds kWideKinds = {
    {convolve_channels<1, false, kIsWhole>, convolve_channels<2, false, kIsWhole>},
    {convolve_channels<1, true, kIsWhole>, convolve_channels<2, true, kIsWhole>}};

template <int kSize, int kPartBytes, bool kIsWhole>
constexpr ConvolveKinds kBlockKinds = {{convolve_block<kSize, kPartBytes, 1, false, kIsWhole>,
                                        convolve_block<kSize, kPartBytes, 2, false, kIsWhole>},
                                       {convolve_block<kSize, kPartBytes, 1, true, kIsWhole>,
                                        convolve_block<kSize, kPartBytes, 2, true, kIsWhole>}};

/// All channels from `channel` on, 16 at a time, `kBlockBytes` of weights apart.
template <int kSize, int kPartBytes, int kBlockBytes>
void convolve_blocks(const DepthwiseRow& row, int stride, const std::byte* weights,
                     const TileNumbers& numbers, const BlockNumbers* block, int channel,
                     int channels, std::int8_t* out) {
  for (; channel < channels; channel += kBlock, ++block, weights += kBlockBytes) {
    const auto& kinds = channels - channel >= kBlock ? kBlockKinds<kSize, kPartBytes, true>
                                                     : kBlockKinds<kSize, kPartBytes, false>;
    const auto convolve_this = kinds.choose(stride, has_left(*block));
    convolve_this(row, weights, numbers, block, channel, channels, out + channel);
  }
}

constexpr int kBlockBytes = kBlock * kGroup;

/// Up to so many channels are faster block by block: four blocks at once leave lanes empty.
constexpr int kMostInBlocks = 3 * kBlock;

int row_channel(int position, int channels) {
  return channels <= kMostInBlocks ? position : interleaved_channel(position, channels);
}

void convolve_row_of_3(const DepthwiseRow& row, int stride, const std::byte* weights,
                       const TileNumbers& numbers, int channels, std::int8_t* out) {
  const BlockNumbers* blocks = numbers.blocks;
  int channel = 0;
  for (; channels - channel > kMostInBlocks; channel += kDepthwiseChannels, blocks += 4) {
    const bool is_whole = channels - channel >= kDepthwiseChannels;
    const auto& kinds = is_whole ? kWideKinds<true> : kWideKinds<false>;
    const auto convolve_these = kinds.choose(stride, has_left_in_four(blocks));
    convolve_these(row, weights, numbers, blocks, channel, channels, out + channel);
    weights += std::ptrdiff_t{3} * kColumnBytes;
  }
  convolve_blocks<3, kColumnBytes, kBlockBytes>(row, stride, weights, numbers, blocks, channel,
                                                channels, out);
}

void convolve_row_of_5(const DepthwiseRow& row, int stride, const std::byte* weights,
                       const TileNumbers& numbers, int channels, std::int8_t* out) {
  constexpr int kParts = 5 * Column<5>::kParts;
  convolve_blocks<5, kBlockBytes, kParts * kBlockBytes>(row, stride, weights, numbers,
                                                        numbers.blocks, 0, channels, out);
}

/// Columns in turn, as many places each as their parts have.
template <int kSize>
int column_tap(int tap) {
  return tap % kSize * Column<kSize>::kParts * kGroup + tap / kSize;
}

}  // namespace

const DepthwiseUnit kDepthwise = {.packing = {.channels = kDepthwiseChannels,
                                              .group = kGroup,
                                              .weight_bytes = 1,
                                              .activation_offset = kTurnedSign,
                                              .channel_of = interleaved_channel},
                                  .convolve = convolve,
                                  .rows_of_3 = {.packing = {.channels = kDepthwiseChannels,
                                                            .group = kGroup,
                                                            .weight_bytes = 1,
                                                            .activation_offset = kTurnedSign,
                                                            .channel_of = row_channel,
                                                            .tap_of = column_tap<3>},
                                                .convolve = convolve_row_of_3},
                                  .rows_of_5 = {.packing = {.channels = kBlock,
                                                            .group = kGroup,
                                                            .weight_bytes = 1,
                                                            .activation_offset = kTurnedSign,
                                                            .channel_of = same_channel,
                                                            .tap_of = column_tap<5>},
                                                .convolve = convolve_row_of_5}};

}  // namespace fixedpoint::avx512
