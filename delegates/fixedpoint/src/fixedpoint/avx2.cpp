#include "fixedpoint/avx2_block.h"
#include "fixedpoint/packed_conv.h"
#include "fixedpoint/turn_signs.h"
#include "fixedpoint/x86.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
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

/// Fours of activations as a row's product takes them: even places first.
constexpr int kFourWords = 4;

/// Widens whole fours; what lies behind the last value is multiplied by nothing.
void widen_fours(const std::int8_t* in, int count, std::byte* packed) {
  auto* words = reinterpret_cast<std::int16_t*>(packed);
  int i = 0;
  for (; i + kBlock <= count; i += kBlock) {
    const __m256i wide = _mm256_cvtepi8_epi16(load_bytes(in + i));
    const __m256i ordered = _mm256_shufflehi_epi16(_mm256_shufflelo_epi16(wide, 0xD8), 0xD8);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(words + i), ordered);
  }
  for (; i < count; ++i) {
    const int place = i % kFourWords;
    words[i - place + place / 2 + place % 2 * 2] = in[i];
  }
}

/// So many fours of products of 8 bits, 256 times as large, fit 32 bits: 4 * 126 * 2^14 * 2^8.
constexpr int kMostFours = 126;

/// Sums of 16 channels.
struct RowSums {
  __m256i first, second;

  /// Adds 256 times four products of each: bytes become words where they lie, with an empty lower
  /// half, which takes one instruction instead of a slower one that widens.
  [[gnu::always_inline]] void add(const std::byte* a, const std::byte* b) {
    const __m256i even = broadcast(a);
    const __m256i odd = broadcast(a + 4);
    first = add_products(first, even, odd, load(b));
    second = add_products(second, even, odd, load(b + 32));
  }
  [[gnu::always_inline]] void add_shifted(const RowSums& more) {
    first = _mm256_add_epi32(first, _mm256_srai_epi32(more.first, 8));
    second = _mm256_add_epi32(second, _mm256_srai_epi32(more.second, 8));
  }

 private:
  [[gnu::always_inline]] static __m256i broadcast(const std::byte* a) {
    std::int32_t pair = 0;
    std::memcpy(&pair, a, sizeof pair);
    return _mm256_set1_epi32(pair);
  }
  [[gnu::always_inline]] static __m256i add_products(__m256i sums, __m256i even, __m256i odd,
                                                     __m256i weights) {
    const __m256i even_weights = _mm256_slli_epi16(weights, 8);
    const __m256i odd_weights = _mm256_and_si256(weights, _mm256_set1_epi16(-256));
    sums = _mm256_add_epi32(sums, _mm256_madd_epi16(even, even_weights));
    return _mm256_add_epi32(sums, _mm256_madd_epi16(odd, odd_weights));
  }
};

template <bool kHasLeft>
[[gnu::always_inline]] inline void finish_row(const RowSums& sums, const TileNumbers& numbers,
                                              std::int8_t* out, int channels) {
  const __m256i first = requantize<kHasLeft>(sums.first, *numbers.blocks, 0);
  const __m256i second = requantize<kHasLeft>(sums.second, *numbers.blocks, 1);
  store(out, narrow(first, second, bounds_of(numbers.low, numbers.high)), channels);
}

void multiply_row(const std::byte* a, std::ptrdiff_t /*a_stride*/, int /*rows*/, const std::byte* b,
                  int groups, const TileNumbers& numbers, std::int8_t* out,
                  std::ptrdiff_t /*out_stride*/, int channels) {
  RowSums sums = {load(numbers.blocks->start), load(numbers.blocks->start + kHalf)};
  while (groups > 0) {
    const int some = groups < kMostFours ? groups : kMostFours;
    RowSums more = {_mm256_setzero_si256(), _mm256_setzero_si256()};
#pragma GCC unroll 4
    for (int group = 0; group < some; ++group, a += 8, b += 64) {
      more.add(a, b);
    }
    sums.add_shifted(more);
    groups -= some;
  }
  if (has_left(*numbers.blocks)) {
    finish_row<true>(sums, numbers, out, channels);
  } else {
    finish_row<false>(sums, numbers, out, channels);
  }
}

}  // namespace

const GemmUnit kRowGemm = {.packing = {.channels = kBlock,
                                       .group = kFourWords,
                                       .weight_bytes = 1,
                                       .activation_offset = 0,
                                       .channel_of = same_channel},
                           .rows = 1,
                           .element_bytes = 2,
                           .pack = widen_fours,
                           .multiply = multiply_row};

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
