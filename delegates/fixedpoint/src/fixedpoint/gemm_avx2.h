#pragma once

#include "fixedpoint/avx2_block.h"
#include "fixedpoint/packed_conv.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <immintrin.h>
#include <utility>

/// Tiles of rows and 16 channels in vectors of 256 bits. What multiplies is a `Dot`: its `add` adds
/// to eight sums the products of four bytes each of activations and of weights, and `kRows` rows
/// make a tile. Compiled for what the file that includes this is compiled for.
namespace fixedpoint::avx2 {

/// The sums of a tile's rows, one member each: an array of them would live in memory.
template <class Dot, int kCount, int kHalves>
struct Rows {
  __m256i first, second;
  Rows<Dot, kCount - 1, kHalves> rest;

  [[gnu::always_inline]] void start(__m256i first_start, __m256i second_start) {
    first = first_start;
    second = second_start;
    rest.start(first_start, second_start);
  }
  [[gnu::always_inline]] void add(const std::byte* a, std::ptrdiff_t stride, __m256i first_weights,
                                  __m256i second_weights) {
    std::int32_t values = 0;
    std::memcpy(&values, a, sizeof values);
    const __m256i x = _mm256_set1_epi32(values);
    first = Dot::add(first, x, first_weights);
    if constexpr (kHalves > 1) {
      second = Dot::add(second, x, second_weights);
    }
    rest.add(a + stride, stride, first_weights, second_weights);
  }
  template <bool kHasLeft>
  [[gnu::always_inline]] void requantize(const BlockNumbers& n) {
    first = avx2::requantize<kHasLeft>(first, n, 0);
    if constexpr (kHalves > 1) {
      second = avx2::requantize<kHasLeft>(second, n, 1);
    }
    rest.template requantize<kHasLeft>(n);
  }
  [[gnu::always_inline]] void store(const TileNumbers& numbers, int channels, std::int8_t* out,
                                    std::ptrdiff_t stride) {
    store(bounds_of(numbers.low, numbers.high), channels, out, stride);
  }
  [[gnu::always_inline]] void store(const TileNumbers& numbers, int channels, std::int16_t* out,
                                    std::ptrdiff_t stride) {
    store(wide_bounds_of(numbers.low, numbers.high), channels, out, stride);
  }
  /// Two rows at a time.
  [[gnu::always_inline]] void store(const Bounds& bounds, int channels, std::int8_t* out,
                                    std::ptrdiff_t stride) {
    if constexpr (kCount == 1) {
      avx2::store(out, narrow(first, second, bounds), channels);
    } else {
      const __m256i bytes = narrow(first, second, rest.first, rest.second, bounds);
      store_two(out, out + stride, bytes, channels);
      rest.rest.store(bounds, channels, out + 2 * stride, stride);
    }
  }
  [[gnu::always_inline]] void store(const Bounds& bounds, int channels, std::int16_t* out,
                                    std::ptrdiff_t stride) {
    avx2::store(out, narrow_wide(first, second, bounds), channels);
    rest.store(bounds, channels, out + stride, stride);
  }
  [[gnu::always_inline]] void store_sums(std::int32_t* sums) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums), first);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums + kHalf), second);
    rest.store_sums(sums + kBlock);
  }
};

template <class Dot, int kHalves>
struct Rows<Dot, 0, kHalves> {
  void start(__m256i /*first*/, __m256i /*second*/) {}
  void add(const std::byte* /*a*/, std::ptrdiff_t /*stride*/, __m256i /*first*/,
           __m256i /*second*/) {}
  template <bool kHasLeft>
  void requantize(const BlockNumbers& /*n*/) {}
  template <class T>
  void store(const Bounds& /*bounds*/, int /*channels*/, T* /*out*/, std::ptrdiff_t /*stride*/) {}
  void store_sums(std::int32_t* /*sums*/) {}
};

template <class SomeRows>
[[gnu::always_inline]] inline void add_groups(const std::byte* a, std::ptrdiff_t a_stride,
                                              const std::byte* b, int groups, SomeRows& rows) {
  for (int group = 0; group < groups; ++group) {
    rows.add(a + group * 4, a_stride, load(b), load(b + 32));
    b += 64;
  }
}

/// A tile of `kCount` rows and eight channels, or 16; weights always lie for 16.
template <class Dot, class T, int kCount, int kHalves>
void multiply_rows(const std::byte* a, std::ptrdiff_t a_stride, const std::byte* b, int groups,
                   const TileNumbers& numbers, T* out, std::ptrdiff_t out_stride, int channels) {
  Rows<Dot, kCount, kHalves> rows;
  rows.start(load(numbers.blocks->start), load(numbers.blocks->start + kHalf));
  add_groups(a, a_stride, b, groups, rows);
  if (has_left(*numbers.blocks)) {
    rows.template requantize<true>(*numbers.blocks);
  } else {
    rows.template requantize<false>(*numbers.blocks);
  }
  rows.store(numbers, channels, out, out_stride);
}

/// The sums alone, of 16 channels.
template <class Dot, int kCount>
void sum_up_rows(const std::byte* a, std::ptrdiff_t a_stride, const std::byte* b, int groups,
                 std::int32_t* sums) {
  Rows<Dot, kCount, 2> rows;
  rows.start(_mm256_setzero_si256(), _mm256_setzero_si256());
  add_groups(a, a_stride, b, groups, rows);
  rows.store_sums(sums);
}

template <class T>
using Multiply = void (*)(const std::byte*, std::ptrdiff_t, const std::byte*, int,
                          const TileNumbers&, T*, std::ptrdiff_t, int);

/// By the number of rows.
template <class Dot, class T, int kHalves, int... kCounts>
constexpr auto tiles_of(std::integer_sequence<int, kCounts...> /*counts*/) {
  return std::array<Multiply<T>, sizeof...(kCounts)>{
      multiply_rows<Dot, T, kCounts + 1, kHalves>...};
}

template <class Dot, class T = std::int8_t>
void multiply(const std::byte* a, std::ptrdiff_t a_stride, int rows, const std::byte* b, int groups,
              const TileNumbers& numbers, T* out, std::ptrdiff_t out_stride, int channels) {
  using Counts = std::make_integer_sequence<int, Dot::kRows>;
  static constexpr auto kNarrow = tiles_of<Dot, T, 1>(Counts());
  static constexpr auto kWide = tiles_of<Dot, T, 2>(Counts());
  const Multiply<T> by_rows = channels <= kHalf ? kNarrow[rows - 1] : kWide[rows - 1];
  by_rows(a, a_stride, b, groups, numbers, out, out_stride, channels);
}

template <class Dot, int... kCounts>
constexpr auto sums_of(std::integer_sequence<int, kCounts...> /*counts*/) {
  return std::array<SumUpRows, sizeof...(kCounts)>{sum_up_rows<Dot, kCounts + 1>...};
}

template <class Dot>
void sum_up(const std::byte* a, std::ptrdiff_t a_stride, int rows, const std::byte* b, int groups,
            std::int32_t* sums) {
  static constexpr auto kByRows = sums_of<Dot>(std::make_integer_sequence<int, Dot::kRows>());
  kByRows[rows - 1](a, a_stride, b, groups, sums);
}

}  // namespace fixedpoint::avx2
