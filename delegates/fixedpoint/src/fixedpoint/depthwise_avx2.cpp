#include "fixedpoint/avx2_block.h"
#include "fixedpoint/packed_conv.h"
#include "fixedpoint/x86.h"

#include <cstddef>
#include <cstdint>
#include <immintrin.h>

#pragma GCC target("avx2")

namespace fixedpoint::avx2 {
namespace {

constexpr int kGroup = 2;
constexpr int kGroupBytes = 64;  ///< Two weights of 16 channels.

/// Two taps of 16 channels in 16 bits, interleaved so that each 32-bit lane has those of a channel.
/// Lane e of half j holds channel 8 * (e / 4) + 4 * j + e % 4; packing to bytes brings them back.
struct Interleaved {
  __m256i halves[2];
};

int channel_of(int position, int /*channels*/) {
  const int half = position / kHalf;
  const int lane = position % kHalf;
  return 8 * (lane / 4) + 4 * half + lane % 4;
}

template <bool kIsWhole>
[[gnu::always_inline]] inline __m256i widen(const std::int8_t* tap, int count) {
  return _mm256_cvtepi8_epi16(kIsWhole ? load_bytes(tap) : load_some(tap, count));
}

[[gnu::always_inline]] inline Interleaved interleave(__m256i a, __m256i b) {
  return {{_mm256_unpacklo_epi16(a, b), _mm256_unpackhi_epi16(a, b)}};
}

[[gnu::always_inline]] inline __m256i multiply(const Interleaved& x, int half,
                                               const std::byte* weights) {
  return _mm256_madd_epi16(x.halves[half], load(weights + 32 * half));
}

void convolve(const std::int8_t* const* taps, int groups, const std::byte* weights,
              const TileNumbers& numbers, int channels, std::int8_t* out) {
  const Bounds bounds = bounds_of(numbers.low, numbers.high);
  const BlockNumbers* block = numbers.blocks;
  for (int channel = 0; channel < channels; channel += kBlock, ++block) {
    const int count = channels - channel;
    __m256i first = _mm256_setzero_si256();
    __m256i second = _mm256_setzero_si256();
    for (int group = 0; group < groups; ++group, weights += kGroupBytes) {
      const Interleaved x = interleave(widen<false>(taps[group * kGroup] + channel, count),
                                       widen<false>(taps[group * kGroup + 1] + channel, count));
      first = _mm256_add_epi32(first, multiply(x, 0, weights));
      second = _mm256_add_epi32(second, multiply(x, 1, weights));
    }
    first = requantize<true>(first, *block, 0);
    second = requantize<true>(second, *block, 1);
    const __m256i bytes = narrow_interleaved(first, second, first, second, bounds);
    store(out + channel, _mm256_castsi256_si128(bytes), count);
  }
}

/// Windows whose columns are interleaved before they are multiplied: what fits the first level of
/// the cache.
constexpr int kWindows = 32;

/// The columns that some neighbouring windows read, each interleaved once for all of them.
struct Columns {
  /// The upper two taps of each column.
  Interleaved upper[2 * kWindows + 4];
  /// The lowest tap of each column and of the one to its right.
  Interleaved lower[2 * kWindows + 4];
};

/// Three taps of 16 channels, one above the other.
struct Column {
  __m256i taps[3];
};

template <bool kIsWhole>
[[gnu::always_inline]] inline Column widen_column(const DepthwiseRow& row, int column, int channel,
                                                  int count) {
  const bool is_inside = column >= 0 && column < row.in_width;
  Column made;
#pragma GCC unroll 3
  for (int i = 0; i < 3; ++i) {
    const std::int8_t* pixel = is_inside ? row.rows[i] + column * row.steps[i] : row.padding;
    made.taps[i] = widen<kIsWhole>(pixel + channel, count);
  }
  return made;
}

/// `first`: the left column of the first window.
template <bool kIsWhole>
void fill(const DepthwiseRow& row, int first, int count, int channel, int channels,
          Columns& columns) {
  Column left = widen_column<kIsWhole>(row, first, channel, channels);
  for (int i = 0; i < count; ++i) {
    const Column right = widen_column<kIsWhole>(row, first + i + 1, channel, channels);
    columns.upper[i] = interleave(left.taps[0], left.taps[1]);
    columns.lower[i] = interleave(left.taps[2], right.taps[2]);
    left = right;
  }
}

/// The sums of two neighbouring windows.
struct Windows {
  __m256i first, second;
};

/// Adds what one pair of taps gives, so that its weights are read once for both windows.
[[gnu::always_inline]] inline Windows multiply_two(const Interleaved& first,
                                                   const Interleaved& second, int half,
                                                   const std::byte* weights) {
  const __m256i w = load(weights + 32 * half);
  return {_mm256_madd_epi16(w, first.halves[half]), _mm256_madd_epi16(w, second.halves[half])};
}

[[gnu::always_inline]] inline Windows operator+(const Windows& a, const Windows& b) {
  return {_mm256_add_epi32(a.first, b.first), _mm256_add_epi32(a.second, b.second)};
}

/// Three pairs of upper taps, the lower two on the left, and the lower one on the right.
template <int kStride>
[[gnu::always_inline]] inline Windows convolve_two(const Columns& columns, int column, int half,
                                                   const std::byte* weights) {
  const Interleaved* upper = columns.upper + column;
  const Interleaved* lower = columns.lower + column;
  const Windows left = multiply_two(upper[0], upper[kStride], half, weights);
  const Windows middle = multiply_two(upper[1], upper[1 + kStride], half, weights + kGroupBytes);
  const Windows right = multiply_two(upper[2], upper[2 + kStride], half, weights + 2 * kGroupBytes);
  const Windows both = multiply_two(lower[0], lower[kStride], half, weights + 3 * kGroupBytes);
  const Windows last = multiply_two(lower[2], lower[2 + kStride], half, weights + 4 * kGroupBytes);
  return left + middle + right + (both + last);
}

template <int kStride, bool kHasLeft>
void convolve_windows(const Columns& columns, int windows, const std::byte* weights,
                      const BlockNumbers& block, const Bounds& bounds, int channels, int count,
                      std::int8_t* out) {
  for (int window = 0; window < windows; window += 2, out += 2 * channels) {
    Windows sums[2];
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
      const Windows both = convolve_two<kStride>(columns, kStride * window, half, weights);
      sums[half] = {requantize<kHasLeft>(both.first, block, half),
                    requantize<kHasLeft>(both.second, block, half)};
    }
    const __m256i bytes =
        narrow_interleaved(sums[0].first, sums[1].first, sums[0].second, sums[1].second, bounds);
    store(out, _mm256_castsi256_si128(bytes), count);
    if (window + 1 < windows) {
      store(out + channels, _mm256_extracti128_si256(bytes, 1), count);
    }
  }
}

template <int kStride>
void convolve_channels(const DepthwiseRow& row, const std::byte* weights, const BlockNumbers& block,
                       const Bounds& bounds, int channel, int channels, std::int8_t* out) {
  const int count = channels - channel;
  const auto fill_columns = count >= kBlock ? fill<true> : fill<false>;
  const auto convolve_these =
      has_left(block) ? convolve_windows<kStride, true> : convolve_windows<kStride, false>;
  Columns columns;
  for (int first = 0; first < row.out_width; first += kWindows) {
    const int windows = row.out_width - first < kWindows ? row.out_width - first : kWindows;
    const int even_windows = (windows + 1) / 2 * 2;
    fill_columns(row, row.first_column + kStride * first, kStride * (even_windows - 1) + 3, channel,
                 count, columns);
    convolve_these(columns, windows, weights, block, bounds, channels, count,
                   out + std::ptrdiff_t{first} * channels);
  }
}

void convolve_row(const DepthwiseRow& row, int stride, const std::byte* weights,
                  const TileNumbers& numbers, int channels, std::int8_t* out) {
  const Bounds bounds = bounds_of(numbers.low, numbers.high);
  const BlockNumbers* block = numbers.blocks;
  const auto convolve_these = stride == 1 ? convolve_channels<1> : convolve_channels<2>;
  for (int channel = 0; channel < channels; channel += kBlock, ++block) {
    convolve_these(row, weights, *block, bounds, channel, channels, out + channel);
    weights += 5 * kGroupBytes;
  }
}

/// The upper two taps of each column in turn, then the lower ones.
int column_tap(int tap) {
  const int row = tap / 3;
  const int column = tap % 3;
  return row < 2 ? kGroup * column + row : 6 + column;
}

}  // namespace

const DepthwiseUnit kDepthwise = {.packing = {.channels = kBlock,
                                              .group = kGroup,
                                              .weight_bytes = 2,
                                              .activation_offset = 0,
                                              .channel_of = channel_of},
                                  .convolve = convolve,
                                  .rows_of_3 = {.packing = {.channels = kBlock,
                                                            .group = kGroup,
                                                            .weight_bytes = 2,
                                                            .activation_offset = 0,
                                                            .channel_of = channel_of,
                                                            .tap_of = column_tap},
                                                .convolve = convolve_row}};

}  // namespace fixedpoint::avx2
