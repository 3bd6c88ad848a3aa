#pragma once

#include "fixedpoint/packed_conv.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <immintrin.h>

/// How blocks of 16 sums become results with AVX2, for the files that are compiled for it.
#pragma GCC push_options
#pragma GCC target("avx2")

namespace fixedpoint::avx2 {

constexpr int kHalf = kBlock / 2;

[[gnu::always_inline]] inline __m256i load(const void* at) {
  return _mm256_load_si256(static_cast<const __m256i*>(at));
}

[[gnu::always_inline]] inline __m128i load_bytes(const void* at) {
  return _mm_loadu_si128(static_cast<const __m128i*>(at));
}

/// Up to 16 bytes, and zeros.
[[gnu::always_inline]] inline __m128i load_some(const std::int8_t* in, int count) {
  if (count >= kBlock) {
    return load_bytes(in);
  }
  if (count == kHalf) {
    return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(in));
  }
  alignas(16) std::int8_t all[kBlock] = {};
  std::memcpy(all, in, count);
  return load_bytes(all);
}

/// Stores the first `count` bytes, at most 16.
[[gnu::always_inline]] inline void store(std::int8_t* out, __m128i bytes, int count) {
  if (count >= kBlock) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), bytes);
    return;
  }
  if (count == kHalf) {
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out), bytes);
    return;
  }
  alignas(16) std::int8_t all[kBlock];
  _mm_store_si128(reinterpret_cast<__m128i*>(all), bytes);
  std::memcpy(out, all, count);
}

/// True if a sum of the block is shifted before it is multiplied: ratios of half and more, rare.
[[gnu::always_inline]] inline bool has_left(const BlockNumbers& block) {
  const __m256i left = _mm256_or_si256(load(block.left), load(block.left + kHalf));
  return _mm256_testz_si256(left, left) == 0;
}

/// Eight results in 32 bits, before the clamp: half 0 or 1 of a block. See BlockNumbers.
template <bool kHasLeft>
[[gnu::always_inline]] inline __m256i requantize(__m256i sums, const BlockNumbers& n, int half) {
  const __m256i x = kHasLeft ? _mm256_sllv_epi32(sums, load(n.left + kHalf * half)) : sums;
  const __m256i even = _mm256_add_epi64(_mm256_mul_epi32(x, load(n.multiplier + kHalf * half)),
                                        load(n.even_bias + kHalf / 2 * half));
  const __m256i odd = _mm256_add_epi64(
      _mm256_mul_epi32(_mm256_srli_epi64(x, 32), load(n.odd_multiplier + kHalf * half)),
      load(n.odd_bias + kHalf / 2 * half));
  const __m256i upper = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA);
  return _mm256_srav_epi32(upper, load(n.right + kHalf * half));
}

/// Bounds of all bytes of a vector.
struct Bounds {
  __m256i low, high;
};

[[gnu::always_inline]] inline Bounds bounds_of(int low, int high) {
  return {_mm256_set1_epi8(static_cast<char>(low)), _mm256_set1_epi8(static_cast<char>(high))};
}

/// The clamped bytes of two blocks, a before b, each lane of 128 bits for itself: twice four of
/// a's first half, of its second, of b's first half, of its second.
[[gnu::always_inline]] inline __m256i narrow_in_lanes(__m256i a_first, __m256i a_second,
                                                      __m256i b_first, __m256i b_second,
                                                      const Bounds& bounds) {
  const __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(a_first, a_second),
                                           _mm256_packs_epi32(b_first, b_second));
  return _mm256_min_epi8(_mm256_max_epi8(bytes, bounds.low), bounds.high);
}

/// Narrows to bytes in order.
[[gnu::always_inline]] inline __m256i narrow(__m256i a_first, __m256i a_second, __m256i b_first,
                                             __m256i b_second, const Bounds& bounds) {
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  return _mm256_permutevar8x32_epi32(narrow_in_lanes(a_first, a_second, b_first, b_second, bounds),
                                     order);
}

/// In order where a block's halves are the lower and the upper parts of interleaved lanes.
[[gnu::always_inline]] inline __m256i narrow_interleaved(__m256i a_first, __m256i a_second,
                                                         __m256i b_first, __m256i b_second,
                                                         const Bounds& bounds) {
  return _mm256_permute4x64_epi64(narrow_in_lanes(a_first, a_second, b_first, b_second, bounds),
                                  0xD8);
}

/// One block's.
[[gnu::always_inline]] inline __m128i narrow(__m256i first, __m256i second, const Bounds& bounds) {
  return _mm256_castsi256_si128(narrow(first, second, first, second, bounds));
}

/// Bounds of all 16-bit values of a vector.
[[gnu::always_inline]] inline Bounds wide_bounds_of(int low, int high) {
  return {_mm256_set1_epi16(static_cast<short>(low)), _mm256_set1_epi16(static_cast<short>(high))};
}

/// The clamped 16-bit values of a block, each lane of 128 bits for itself.
[[gnu::always_inline]] inline __m256i narrow_wide_in_lanes(__m256i first, __m256i second,
                                                           const Bounds& bounds) {
  const __m256i values = _mm256_packs_epi32(first, second);
  return _mm256_min_epi16(_mm256_max_epi16(values, bounds.low), bounds.high);
}

/// Narrows to 16 bits in order.
[[gnu::always_inline]] inline __m256i narrow_wide(__m256i first, __m256i second,
                                                  const Bounds& bounds) {
  return _mm256_permute4x64_epi64(narrow_wide_in_lanes(first, second, bounds), 0xD8);
}

/// Up to 16 values, and zeros.
[[gnu::always_inline]] inline __m256i load_some(const std::int16_t* in, int count) {
  if (count >= kBlock) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in));
  }
  alignas(32) std::int16_t all[kBlock] = {};
  std::memcpy(all, in, count * sizeof *in);
  return load(all);
}

/// Stores the first `count` values, at most 16.
[[gnu::always_inline]] inline void store(std::int16_t* out, __m256i values, int count) {
  if (count >= kBlock) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), values);
    return;
  }
  alignas(32) std::int16_t all[kBlock];
  _mm256_store_si256(reinterpret_cast<__m256i*>(all), values);
  std::memcpy(out, all, count * sizeof *out);
}

/// Values of 64 bits.
constexpr int kFour = 4;

/// Arithmetic, each lane by its own count: of what is 2^63 larger, less as much shifted.
[[gnu::always_inline]] inline __m256i shift_right(__m256i values, __m256i counts) {
  const __m256i sign = _mm256_set1_epi64x(INT64_MIN);
  return _mm256_sub_epi64(_mm256_srlv_epi64(_mm256_xor_si256(values, sign), counts),
                          _mm256_srlv_epi64(sign, counts));
}

/// Bounds of values of 64 bits.
struct WideBounds {
  __m256i low, high;

  [[gnu::always_inline]] WideBounds(int least, int most)
      : low(_mm256_set1_epi64x(least)), high(_mm256_set1_epi64x(most)) {}
  [[gnu::always_inline]] __m256i clamp(__m256i values) const {
    const __m256i raised = _mm256_blendv_epi8(values, low, _mm256_cmpgt_epi64(low, values));
    return _mm256_blendv_epi8(raised, high, _mm256_cmpgt_epi64(raised, high));
  }
};

/// Stores the first `count` of four clamped values of 64 bits in 16 bits.
[[gnu::always_inline]] inline void store_four(std::int16_t* out, __m256i values,
                                              std::int64_t count) {
  const __m256i even_lanes = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
  const __m256i lanes = _mm256_permutevar8x32_epi32(values, even_lanes);
  const __m128i words = _mm256_castsi256_si128(_mm256_packs_epi32(lanes, lanes));
  if (count >= kFour) {
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out), words);
  } else {
    const std::int64_t all = _mm_cvtsi128_si64(words);
    std::memcpy(out, &all, count * sizeof *out);
  }
}

/// Stores the lower half at one address and the upper half at another.
[[gnu::always_inline]] inline void store_two(std::int8_t* lower, std::int8_t* upper, __m256i bytes,
                                             int count) {
  store(lower, _mm256_castsi256_si128(bytes), count);
  store(upper, _mm256_extracti128_si256(bytes, 1), count);
}

}  // namespace fixedpoint::avx2

#pragma GCC pop_options
