#pragma once

#include "fixedpoint/packed_conv.h"

#include <cstdint>
#include <immintrin.h>

/// How blocks of 16 sums become results with AVX-512, for the files that are compiled for it.
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq")

namespace fixedpoint::avx512 {

/// Lanes that take the upper half of an even product.
constexpr std::uint16_t kEvenLanes = 0x5555;
constexpr auto kSwapInPairs = static_cast<_MM_PERM_ENUM>(0xB1);

struct Numbers {
  __m512i left, multiplier, odd_multiplier, even_bias, odd_bias, right;
};

/// Loads a vector once for all its uses: compilers take operands from memory again and again, as if
/// vectors of 512 bits could be read as often as they are used.
[[gnu::always_inline]] inline __m512i load_once(const void* at) {
  __m512i vector = _mm512_load_si512(at);
  asm("" : "+v"(vector));
  return vector;
}

[[gnu::always_inline]] inline Numbers load(const BlockNumbers& block) {
  return {_mm512_load_si512(block.left),   load_once(block.multiplier),
          load_once(block.odd_multiplier), load_once(block.even_bias),
          load_once(block.odd_bias),       load_once(block.right)};
}

/// True if a sum of the block is shifted before it is multiplied: ratios of half and more, rare.
[[gnu::always_inline]] inline bool has_left(const BlockNumbers& block) {
  const __m512i left = _mm512_load_si512(block.left);
  return _mm512_test_epi32_mask(left, left) != 0;
}

/// 16 results in 32 bits, before the clamp. See BlockNumbers.
template <bool kHasLeft>
[[gnu::always_inline]] inline __m512i requantize(__m512i sums, const Numbers& n) {
  const __m512i x = kHasLeft ? _mm512_sllv_epi32(sums, n.left) : sums;
  const __m512i even = _mm512_add_epi64(_mm512_mul_epi32(x, n.multiplier), n.even_bias);
  const __m512i odd =
      _mm512_add_epi64(_mm512_mul_epi32(_mm512_srli_epi64(x, 32), n.odd_multiplier), n.odd_bias);
  const __m512i upper = _mm512_mask_shuffle_epi32(odd, kEvenLanes, even, kSwapInPairs);
  return _mm512_srav_epi32(upper, n.right);
}

/// How results become bytes.
struct Clamp {
  __m512i low, high;
  /// Brings what two packs leave in the order of 128-bit lanes to the order of vectors.
  __m512i order;
};

[[gnu::always_inline]] inline Clamp clamp_of(const TileNumbers& numbers) {
  return {_mm512_set1_epi8(static_cast<char>(numbers.low)),
          _mm512_set1_epi8(static_cast<char>(numbers.high)),
          _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15)};
}

/// The clamped bytes of four times 16 results, one after the other.
[[gnu::always_inline]] inline __m512i narrow(__m512i a, __m512i b, __m512i c, __m512i d,
                                             const Clamp& clamp) {
  const __m512i bytes = _mm512_packs_epi16(_mm512_packs_epi32(a, b), _mm512_packs_epi32(c, d));
  const __m512i clamped = _mm512_min_epi8(_mm512_max_epi8(bytes, clamp.low), clamp.high);
  return _mm512_permutexvar_epi32(clamp.order, clamped);
}

/// Where the bytes of 16 groups come from whose members lie 16 bytes apart, for
/// _mm512_permutexvar_epi8.
struct ByteOrder {
  alignas(64) std::int8_t from[64];
};

constexpr ByteOrder group_order(int members) {
  ByteOrder order{};
  for (int i = 0; i < 64; ++i) {
    order.from[i] = static_cast<std::int8_t>(16 * (i % members) + i / members);
  }
  return order;
}

/// Byte orders of groups of one to four.
inline constexpr ByteOrder kGroupOrders[] = {group_order(1), group_order(2), group_order(3),
                                             group_order(4)};

[[gnu::always_inline]] inline __m512i load_group_order(std::int64_t members) {
  return _mm512_load_si512(kGroupOrders[members - 1].from);
}

/// Stores the first `count` bytes.
[[gnu::always_inline]] inline void store_bytes(void* out, __m512i bytes, std::int64_t count) {
  if (count >= 64) {
    _mm512_storeu_si512(out, bytes);
  } else {
    _mm512_mask_storeu_epi8(out, ~std::uint64_t{0} >> (64 - count), bytes);
  }
}

/// The clamped 16-bit values of two times 16 results, one after the other.
[[gnu::always_inline]] inline __m512i narrow_wide(__m512i a, __m512i b,
                                                  const TileNumbers& numbers) {
  const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
  const __m512i low = _mm512_set1_epi16(static_cast<short>(numbers.low));
  const __m512i high = _mm512_set1_epi16(static_cast<short>(numbers.high));
  const __m512i values = _mm512_packs_epi32(a, b);
  return _mm512_permutexvar_epi64(order, _mm512_min_epi16(_mm512_max_epi16(values, low), high));
}

/// Stores the first `count` values of 16 bits.
[[gnu::always_inline]] inline void store_values(std::int16_t* out, __m512i values, int count) {
  if (count >= 32) {
    _mm512_storeu_si512(out, values);
  } else {
    _mm512_mask_storeu_epi16(out, (std::uint32_t{1} << count) - 1, values);
  }
}

/// The bytes of two rows of up to 32 channels, the second in the upper half.
[[gnu::always_inline]] inline void store_two_rows(std::int8_t* out, std::ptrdiff_t stride,
                                                  __m512i bytes, int channels) {
  if (channels == 2 * kBlock) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm512_castsi512_si256(bytes));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + stride),
                        _mm512_extracti64x4_epi64(bytes, 1));
  } else {
    store_bytes(out, bytes, channels);
    store_bytes(out + stride, _mm512_shuffle_i64x2(bytes, bytes, 0xEE), channels);
  }
}

}  // namespace fixedpoint::avx512

#pragma GCC pop_options
