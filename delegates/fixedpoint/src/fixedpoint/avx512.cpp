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
constexpr int kGroupBytes = 4;  ///< Bytes of activations that a lane of 32 bits multiplies.

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

/// Fours of products of 8 bits.
struct ByteDot {
  [[gnu::always_inline]] static __m512i add(__m512i sums, __m512i x, __m512i weights) {
    return _mm512_dpbusd_epi32(sums, x, weights);
  }
};

/// Pairs of products of 16 bits.
struct WideDot {
  [[gnu::always_inline]] static __m512i add(__m512i sums, __m512i x, __m512i weights) {
    return _mm512_dpwssd_epi32(sums, x, weights);
  }
};

/// The sums of a tile's rows, one member each: an array of them would live in memory.
template <class Dot, int kCount, int kBlocks>
struct Rows {
  __m512i first, second;
  Rows<Dot, kCount - 1, kBlocks> rest;

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
    first = Dot::add(first, x, first_weights);
    if constexpr (kBlocks > 1) {
      second = Dot::add(second, x, second_weights);
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
  [[gnu::always_inline]] void store(const TileNumbers& numbers, int channels, std::int8_t* out,
                                    std::ptrdiff_t stride) {
    const Clamp clamp = clamp_of(numbers);
    if constexpr (kCount == 1) {
      store_bytes(out, narrow(first, second, first, second, clamp), channels);
    } else {
      const __m512i bytes = narrow(first, second, rest.first, rest.second, clamp);
      store_two_rows(out, stride, bytes, channels);
      rest.rest.store(numbers, channels, out + 2 * stride, stride);
    }
  }
  [[gnu::always_inline]] void store(const TileNumbers& numbers, int channels, std::int16_t* out,
                                    std::ptrdiff_t stride) {
    store_values(out, narrow_wide(first, second, numbers), channels);
    rest.store(numbers, channels, out + stride, stride);
  }
  [[gnu::always_inline]] void store_sums(std::int32_t* sums) {
    _mm512_storeu_si512(sums, first);
    _mm512_storeu_si512(sums + kBlock, second);
    rest.store_sums(sums + 2 * kBlock);
  }
};

template <class Dot, int kBlocks>
struct Rows<Dot, 0, kBlocks> {
  void start(__m512i /*first*/, __m512i /*second*/) {}
  void add(const std::byte* /*a*/, std::ptrdiff_t /*stride*/, __m512i /*first*/,
           __m512i /*second*/) {}
  template <bool kHasLeft>
  void requantize_first(const Numbers& /*n*/) {}
  template <bool kHasLeft>
  void requantize_second(const Numbers& /*n*/) {}
  template <class T>
  void store(const TileNumbers& /*numbers*/, int /*channels*/, T* /*out*/,
             std::ptrdiff_t /*stride*/) {}
  void store_sums(std::int32_t* /*sums*/) {}
};

template <class SomeRows>
[[gnu::always_inline]] inline void add_groups(const std::byte* a, std::ptrdiff_t a_stride,
                                              const std::byte* b, int groups, SomeRows& rows) {
  for (int group = 0; group < groups; ++group) {
    rows.add(a + group * kGroupBytes, a_stride, _mm512_load_si512(b), _mm512_load_si512(b + 64));
    b += 64 * kTileBlocks;
  }
}

/// A tile of `kCount` rows and as many blocks of channels as there are; weights always lie for two.
template <class Dot, class T, int kCount, int kBlocks>
void multiply_rows(const std::byte* a, std::ptrdiff_t a_stride, const std::byte* b, int groups,
                   const TileNumbers& numbers, T* out, std::ptrdiff_t out_stride, int channels) {
  Rows<Dot, kCount, kBlocks> rows;
  rows.start(_mm512_load_si512(numbers.blocks[0].start),
             _mm512_load_si512(numbers.blocks[1].start));
  add_groups(a, a_stride, b, groups, rows);
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
  rows.store(numbers, channels, out, out_stride);
}

template <class T>
using Multiply = void (*)(const std::byte*, std::ptrdiff_t, const std::byte*, int,
                          const TileNumbers&, T*, std::ptrdiff_t, int);

template <class Dot, class T, int kBlocks>
struct Tiles {
  Multiply<T> by_rows[kRows + 1] = {nullptr,
                                    multiply_rows<Dot, T, 1, kBlocks>,
                                    multiply_rows<Dot, T, 2, kBlocks>,
                                    multiply_rows<Dot, T, 3, kBlocks>,
                                    multiply_rows<Dot, T, 4, kBlocks>,
                                    multiply_rows<Dot, T, 5, kBlocks>,
                                    multiply_rows<Dot, T, 6, kBlocks>,
                                    multiply_rows<Dot, T, 7, kBlocks>,
                                    multiply_rows<Dot, T, 8, kBlocks>,
                                    multiply_rows<Dot, T, 9, kBlocks>,
                                    multiply_rows<Dot, T, 10, kBlocks>,
                                    multiply_rows<Dot, T, 11, kBlocks>,
                                    multiply_rows<Dot, T, 12, kBlocks>};
};

template <class Dot, class T>
void multiply(const std::byte* a, std::ptrdiff_t a_stride, int rows, const std::byte* b, int groups,
              const TileNumbers& numbers, T* out, std::ptrdiff_t out_stride, int channels) {
  static constexpr Tiles<Dot, T, 1> kNarrow;
  static constexpr Tiles<Dot, T, 2> kWide;
  const Multiply<T> by_rows = channels <= kBlock ? kNarrow.by_rows[rows] : kWide.by_rows[rows];
  by_rows(a, a_stride, b, groups, numbers, out, out_stride, channels);
}

/// The sums alone, of all channels.
template <int kCount>
void sum_up_rows(const std::byte* a, std::ptrdiff_t a_stride, const std::byte* b, int groups,
                 std::int32_t* sums) {
  Rows<WideDot, kCount, kTileBlocks> rows;
  rows.start(_mm512_setzero_si512(), _mm512_setzero_si512());
  add_groups(a, a_stride, b, groups, rows);
  rows.store_sums(sums);
}

constexpr SumUpRows kSumUpRows[kRows + 1] = {
    nullptr,         sum_up_rows<1>,  sum_up_rows<2>, sum_up_rows<3>, sum_up_rows<4>,
    sum_up_rows<5>,  sum_up_rows<6>,  sum_up_rows<7>, sum_up_rows<8>, sum_up_rows<9>,
    sum_up_rows<10>, sum_up_rows<11>, sum_up_rows<12>};

void sum_up(const std::byte* a, std::ptrdiff_t a_stride, int rows, const std::byte* b, int groups,
            std::int32_t* sums) {
  kSumUpRows[rows](a, a_stride, b, groups, sums);
}

}  // namespace

const GemmUnit kGemm = {.packing = {.channels = kTileBlocks * kBlock,
                                    .group = kGroupBytes,
                                    .weight_bytes = 1,
                                    .activation_offset = kTurnedSign,
                                    .channel_of = same_channel},
                        .rows = kRows,
                        .element_bytes = 1,
                        .pack = pack,
                        .multiply = multiply<ByteDot, std::int8_t>};

const GemmUnit16 kGemm16 = {.packing = {.channels = kTileBlocks * kBlock,
                                        .group = kGroupBytes / 2,
                                        .weight_bytes = 2,
                                        .activation_offset = 0,
                                        .channel_of = same_channel},
                            .rows = kRows,
                            .element_bytes = 2,
                            .pack = copy_values,
                            .multiply = multiply<WideDot, std::int16_t>,
                            .sum_up = sum_up};

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
