#include "fixedpoint/avx2_block.h"
#include "fixedpoint/packed_conv.h"
#include "fixedpoint/turn_signs.h"
#include "fixedpoint/x86.h"

#include <cstddef>
#include <cstdint>
#include <immintrin.h>

#pragma GCC target("avx2")

#include "fixedpoint/gemm_avx2.h"

namespace fixedpoint::avx2 {
namespace {

/// Pairs of products of 16 bits.
struct WideDot {
  static constexpr int kRows = 6;
  static constexpr int kGroup = 2;

  [[gnu::always_inline]] static __m256i add(__m256i sums, __m256i x, __m256i weights) {
    return _mm256_add_epi32(sums, _mm256_madd_epi16(x, weights));
  }
};

/// Fours of products of 8 bits, two of which are added in 16 bits: 2 * 255 * 64 fits.
struct NarrowDot {
  static constexpr int kRows = 5;  // Multiplying takes two registers more.
  static constexpr int kGroup = 4;

  [[gnu::always_inline]] static __m256i add(__m256i sums, __m256i x, __m256i weights) {
    const __m256i pairs = _mm256_maddubs_epi16(x, weights);
    return _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }
};

void widen(const std::int8_t* in, int count, std::byte* packed) {
  auto* words = reinterpret_cast<std::int16_t*>(packed);
  int i = 0;
  for (; i + kBlock <= count; i += kBlock) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(words + i),
                        _mm256_cvtepi8_epi16(load_bytes(in + i)));
  }
  for (; i + kHalf <= count; i += kHalf) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(words + i),
                     _mm_cvtepi8_epi16(load_some(in + i, kHalf)));
  }
  for (; i < count; ++i) {
    words[i] = in[i];
  }
}

}  // namespace

const GemmUnit kGemm = {.packing = {.channels = kBlock,
                                    .group = WideDot::kGroup,
                                    .weight_bytes = 2,
                                    .activation_offset = 0,
                                    .channel_of = same_channel},
                        .rows = WideDot::kRows,
                        .element_bytes = 2,
                        .pack = widen,
                        .multiply = multiply<WideDot>};

const GemmUnit16 kGemm16 = {.packing = kGemm.packing,
                            .rows = WideDot::kRows,
                            .element_bytes = 2,
                            .pack = copy_values,
                            .multiply = multiply<WideDot, std::int16_t>,
                            .sum_up = sum_up<WideDot>};

const GemmUnit kNarrowGemm = {.packing = {.channels = kBlock,
                                          .group = NarrowDot::kGroup,
                                          .weight_bytes = 1,
                                          .activation_offset = kTurnedSign,
                                          .channel_of = same_channel},
                              .rows = NarrowDot::kRows,
                              .element_bytes = 1,
                              .pack = turn_signs,
                              .multiply = multiply<NarrowDot>};

void turn_signs(const std::int8_t* in, int count, std::byte* packed) {
  if (count < kBlock) {
    turn_signs_of_few(in, count, packed);
    return;
  }
  const __m128i sign = _mm_set1_epi8(-128);
  const auto turn = [&](int i) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(packed + i),
                     _mm_xor_si128(load_bytes(in + i), sign));
  };
  for (int i = 0; i + kBlock <= count; i += kBlock) {
    turn(i);
  }
  turn(count - kBlock);
}

bool is_supported() { return __builtin_cpu_supports("avx2"); }

}  // namespace fixedpoint::avx2
