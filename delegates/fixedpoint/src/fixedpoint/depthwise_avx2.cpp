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

/// Those of 16 bits are as wide as they have to be.
template <bool kIsWhole>
[[gnu::always_inline]] inline __m256i widen(const std::int16_t* tap, int count) {
  return load_some(tap, kIsWhole ? kBlock : count);
}

/// By the type of the results.
[[gnu::always_inline]] inline Bounds bounds_for(const std::int8_t* /*out*/,
                                                const TileNumbers& numbers) {
  return bounds_of(numbers.low, numbers.high);
}
[[gnu::always_inline]] inline Bounds bounds_for(const std::int16_t* /*out*/,
                                                const TileNumbers& numbers) {
  return wide_bounds_of(numbers.low, numbers.high);
}

/// The sums of two neighbouring windows.
struct Windows {
  __m256i first, second;

  /// Adds what one pair of taps gives, so that its weights are read once for both windows.
  [[gnu::always_inline]] void add(const Interleaved& x, const Interleaved& y, int half,
                                  const std::byte* weights) {
    const __m256i w = load(weights + 32 * half);
    first = _mm256_add_epi32(first, _mm256_madd_epi16(w, x.halves[half]));
    second = _mm256_add_epi32(second, _mm256_madd_epi16(w, y.halves[half]));
  }
};

/// The results of two neighbouring windows, by halves of a block, the second where it is wanted.
[[gnu::always_inline]] inline void store_windows(const Windows* halves, const Bounds& bounds,
                                                 bool has_second, int channels, int count,
                                                 std::int8_t* out) {
  const __m256i bytes = narrow_interleaved(halves[0].first, halves[1].first, halves[0].second,
                                           halves[1].second, bounds);
  store(out, _mm256_castsi256_si128(bytes), count);
  if (has_second) {
    store(out + channels, _mm256_extracti128_si256(bytes, 1), count);
  }
}

[[gnu::always_inline]] inline void store_windows(const Windows* halves, const Bounds& bounds,
                                                 bool has_second, int channels, int count,
                                                 std::int16_t* out) {
  store(out, narrow_wide_in_lanes(halves[0].first, halves[1].first, bounds), count);
  if (has_second) {
    store(out + channels, narrow_wide_in_lanes(halves[0].second, halves[1].second, bounds), count);
  }
}

template <class T>
void convolve(const T* const* taps, int groups, const std::byte* weights,
              const TileNumbers& numbers, int channels, T* out) {
  const Bounds bounds = bounds_for(out, numbers);
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
    const Windows halves[] = {{requantize<true>(first, *block, 0), first},
                              {requantize<true>(second, *block, 1), second}};
    store_windows(halves, bounds, false, channels, count, out + channel);
  }
}

/// Windows whose columns are interleaved before they are multiplied: what fits the first level of
/// the cache.
constexpr int kWindows = 32;

/// How the taps of windows of a size lie in pairs: two rows at a time of each column, then the
/// lowest row in pairs of neighbouring columns.
template <int kSize>
struct Pairs {
  static constexpr int kRows = kSize / 2;
  static constexpr int kUpper = kSize * kRows;
  static constexpr int kAll = kUpper + (kSize + 1) / 2;
};

/// The columns that some neighbouring windows read, each interleaved once for all of them.
template <int kSize>
struct Columns {
  /// The pairs of rows of each column.
  Interleaved upper[2 * kWindows + kSize + 1][Pairs<kSize>::kRows];
  /// The lowest tap of each column and of the one to its right.
  Interleaved lower[2 * kWindows + kSize + 1];
};

/// Taps of 16 channels, one above the other.
template <int kSize>
struct Column {
  __m256i taps[kSize];
};

template <bool kIsWhole, int kSize, class T>
[[gnu::always_inline]] inline Column<kSize> widen_column(const ColumnWalk<kSize, T>& walk,
                                                         int count) {
  Column<kSize> made;
#pragma GCC unroll 5
  for (int i = 0; i < kSize; ++i) {
    made.taps[i] = widen<kIsWhole>(walk.tap(i), count);
  }
  return made;
}

/// `first`: the left column of the first window.
template <int kSize, bool kIsWhole, class T>
void fill(const TypedDepthwiseRow<T>& row, int first, int count, int channel, int channels,
          Columns<kSize>& columns) {
  ColumnWalk<kSize, T> walk(row, first, channel);
  auto left = widen_column<kIsWhole>(walk, channels);
  for (int i = 0; i < count; ++i) {
    walk.next();
    const auto right = widen_column<kIsWhole>(walk, channels);
#pragma GCC unroll 2
    for (int pair = 0; pair < Pairs<kSize>::kRows; ++pair) {
      columns.upper[i][pair] = interleave(left.taps[2 * pair], left.taps[2 * pair + 1]);
    }
    columns.lower[i] = interleave(left.taps[kSize - 1], right.taps[kSize - 1]);
    left = right;
  }
}

template <int kSize, int kStride>
[[gnu::always_inline]] inline Windows convolve_two(const Columns<kSize>& columns, int column,
                                                   int half, const std::byte* weights) {
  Windows sums = {_mm256_setzero_si256(), _mm256_setzero_si256()};
#pragma GCC unroll 5
  for (int i = 0; i < kSize; ++i) {
    const Interleaved* upper = columns.upper[column + i];
    const Interleaved* next = columns.upper[column + i + kStride];
#pragma GCC unroll 2
    for (int pair = 0; pair < Pairs<kSize>::kRows; ++pair, weights += kGroupBytes) {
      sums.add(upper[pair], next[pair], half, weights);
    }
  }
#pragma GCC unroll 3
  for (int i = 0; i < kSize; i += 2, weights += kGroupBytes) {
    sums.add(columns.lower[column + i], columns.lower[column + i + kStride], half, weights);
  }
  return sums;
}

template <int kSize, int kStride, bool kHasLeft, class T>
void convolve_windows(const Columns<kSize>& columns, int windows, const std::byte* weights,
                      const BlockNumbers& block, const Bounds& bounds, int channels, int count,
                      T* out) {
  for (int window = 0; window < windows; window += 2, out += 2 * channels) {
    Windows sums[2];
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
      const Windows both = convolve_two<kSize, kStride>(columns, kStride * window, half, weights);
      sums[half] = {requantize<kHasLeft>(both.first, block, half),
                    requantize<kHasLeft>(both.second, block, half)};
    }
    store_windows(sums, bounds, window + 1 < windows, channels, count, out);
  }
}

template <int kSize, int kStride, class T>
void convolve_channels(const TypedDepthwiseRow<T>& row, const std::byte* weights,
                       const BlockNumbers& block, const Bounds& bounds, int channel, int channels,
                       T* out) {
  const int count = channels - channel;
  const auto fill_columns = count >= kBlock ? fill<kSize, true, T> : fill<kSize, false, T>;
  const auto convolve_these = has_left(block) ? convolve_windows<kSize, kStride, true, T>
                                              : convolve_windows<kSize, kStride, false, T>;
  Columns<kSize> columns;
  for (int first = 0; first < row.out_width; first += kWindows) {
    const int windows = row.out_width - first < kWindows ? row.out_width - first : kWindows;
    const int even_windows = (windows + 1) / 2 * 2;
    fill_columns(row, row.first_column + kStride * first, kStride * (even_windows - 1) + kSize,
                 channel, count, columns);
    convolve_these(columns, windows, weights, block, bounds, channels, count,
                   out + std::ptrdiff_t{first} * channels);
  }
}

template <int kSize, class T>
void convolve_row(const TypedDepthwiseRow<T>& row, int stride, const std::byte* weights,
                  const TileNumbers& numbers, int channels, T* out) {
  const Bounds bounds = bounds_for(out, numbers);
  const BlockNumbers* block = numbers.blocks;
  const auto convolve_these =
      stride == 1 ? convolve_channels<kSize, 1, T> : convolve_channels<kSize, 2, T>;
  for (int channel = 0; channel < channels; channel += kBlock, ++block) {
    convolve_these(row, weights, *block, bounds, channel, channels, out + channel);
    weights += std::ptrdiff_t{Pairs<kSize>::kAll} * kGroupBytes;
  }
}

template <int kSize>
int paired_tap(int tap) {
  constexpr int kPairs = Pairs<kSize>::kRows;
  const int row = tap / kSize;
  const int column = tap % kSize;
  return row < kSize - 1 ? kGroup * (kPairs * column + row / 2) + row % 2
                         : kGroup * Pairs<kSize>::kUpper + column;
}

constexpr Packing packing_with(int (*tap_of)(int)) noexcept {
  return {.channels = kBlock,
          .group = kGroup,
          .weight_bytes = 2,
          .activation_offset = 0,
          .channel_of = channel_of,
          .tap_of = tap_of};
}

}  // namespace

const DepthwiseUnit kDepthwise = {
    .packing = packing_with(nullptr),
    .convolve = convolve,
    .rows_of_3 = {.packing = packing_with(paired_tap<3>), .convolve = convolve_row<3, std::int8_t>},
    .rows_of_5 = {.packing = packing_with(paired_tap<5>),
                  .convolve = convolve_row<5, std::int8_t>}};

const DepthwiseUnit16 kDepthwise16 = {.packing = packing_with(nullptr),
                                      .convolve = convolve,
                                      .rows_of_3 = {.packing = packing_with(paired_tap<3>),
                                                    .convolve = convolve_row<3, std::int16_t>},
                                      .rows_of_5 = {.packing = packing_with(paired_tap<5>),
                                                    .convolve = convolve_row<5, std::int16_t>}};

}  // namespace fixedpoint::avx2
