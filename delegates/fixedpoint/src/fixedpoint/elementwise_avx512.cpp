#include "fixedpoint/avx512_block.h"
#include "fixedpoint/halved_sum.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/packed_conv.h"
#include "fixedpoint/x86.h"

#include <cstdint>
#include <immintrin.h>

#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx512vbmi")

namespace fixedpoint::avx512 {
namespace {

constexpr int kStep = 32;

struct SumNumbers {
  __m512i upper, lower, upper_bias, lower_bias;
  __m128i shift;
};

/// floor((a * ma + b * mb + bias) / 2^shift) of pairs (a, b), all in 32 bits.
__m512i sum_pairs(__m512i pairs, const SumNumbers& n) {
  const __m512i lower = _mm512_dpwssd_epi32(n.lower_bias, pairs, n.lower);
  const __m512i upper = _mm512_dpwssd_epi32(n.upper_bias, pairs, n.upper);
  return _mm512_sra_epi32(_mm512_add_epi32(upper, _mm512_srai_epi32(lower, HalvedSum::kBits)),
                          n.shift);
}

constexpr int kMostParts = 4;  ///< Blocks that fill a vector of bytes.
constexpr int kVector = kMostParts * kBlock;

/// 16 values in 32 bits; of the last block those that there are.
template <bool kIsLast>
[[gnu::always_inline]] inline __m512i widen(const std::int8_t* in, __mmask16 last) {
  return _mm512_cvtepi8_epi32(kIsLast ? _mm_maskz_loadu_epi8(last, in)
                                      : _mm_loadu_si128(reinterpret_cast<const __m128i*>(in)));
}

template <int kParts, int kPart = 0>
[[gnu::always_inline]] inline void widen_all(const std::int8_t* in, __mmask16 last,
                                             __m512i zero_point, __m512i* made) {
  if constexpr (kPart < kParts) {
    const __m512i wide = widen < kPart + 1 == kParts > (in + kPart * kBlock, last);
    made[kPart] = _mm512_sub_epi32(wide, zero_point);
    widen_all<kParts, kPart + 1>(in, last, zero_point, made);
  }
}

/// Computes all rows of up to 64 columns, block by block.
template <bool kHasLeft, int kParts>
void multiply_columns(const Mul& op, const BlockNumbers& block, int columns, const std::int8_t* a,
                      const std::int8_t* b, std::int8_t* out) {
  const Numbers n = load(block);
  const __m512i zero_point = _mm512_set1_epi32(op.zero_point_a);
  const Clamp clamp = clamp_of({.low = op.requantize.low, .high = op.requantize.high});
  const auto last = static_cast<__mmask16>((1U << (columns - (kParts - 1) * kBlock)) - 1);
  __m512i factors[kParts];
  widen_all<kParts>(b, last, _mm512_set1_epi32(op.zero_point_b), factors);
  for (int row = 0; row < op.rows; ++row, a += op.inner, out += op.inner) {
    __m512i results[kMostParts] = {};
    widen_all<kParts>(a, last, zero_point, results);
#pragma GCC unroll 4
    for (int i = 0; i < kParts; ++i) {
      results[i] = requantize<kHasLeft>(_mm512_mullo_epi32(results[i], factors[i]), n);
    }
    store_bytes(out, narrow(results[0], results[1], results[2], results[3], clamp), columns);
  }
}

using MultiplyColumns = decltype(&multiply_columns<false, 1>);

template <bool kHasLeft>
constexpr MultiplyColumns kMultiplyColumns[kMostParts] = {
    multiply_columns<kHasLeft, 1>, multiply_columns<kHasLeft, 2>, multiply_columns<kHasLeft, 3>,
    multiply_columns<kHasLeft, 4>};

struct BoundaryNumbers {
  __m512 factor, least, most;
  __m512i zero_point;
};

/// Up to 16 values. NaN becomes the least, as maxima give their second operand then.
__m128i quantize_some(const float* in, __mmask16 mask, const BoundaryNumbers& n) {
  const __m512 x = _mm512_mul_ps(_mm512_maskz_loadu_ps(mask, in), n.factor);
  const __m512 inside = _mm512_min_ps(_mm512_max_ps(x, n.least), n.most);
  return _mm512_cvtepi32_epi8(_mm512_add_epi32(_mm512_cvtps_epi32(inside), n.zero_point));
}

}  // namespace

bool add(const Add& op, const std::int8_t* a, const std::int8_t* b, std::int8_t* out) {
  HalvedSum halves;
  if (!halve(op, halves)) {
    return false;
  }
  const SumNumbers n = {_mm512_set1_epi32(halves.upper), _mm512_set1_epi32(halves.lower),
                        _mm512_set1_epi32(halves.upper_bias), _mm512_set1_epi32(halves.lower_bias),
                        _mm_cvtsi32_si128(halves.shift)};
  const __m256i low = _mm256_set1_epi8(static_cast<char>(op.low));
  const __m256i high = _mm256_set1_epi8(static_cast<char>(op.high));
  for (std::int64_t i = 0; i < op.count; i += kStep) {
    const std::int64_t count = op.count - i;
    const __mmask32 mask = ~std::uint32_t{0} >> (count >= kStep ? 0 : kStep - count);
    const __m512i x = _mm512_cvtepi8_epi16(_mm256_maskz_loadu_epi8(mask, a + i));
    const __m512i y = _mm512_cvtepi8_epi16(_mm256_maskz_loadu_epi8(mask, b + i));
    // Interleaving and packing both stay within 128 bits, so the order comes back.
    const __m512i first = sum_pairs(_mm512_unpacklo_epi16(x, y), n);
    const __m512i second = sum_pairs(_mm512_unpackhi_epi16(x, y), n);
    const __m256i bytes = _mm512_cvtsepi16_epi8(_mm512_packs_epi32(first, second));
    _mm256_mask_storeu_epi8(out + i, mask, _mm256_min_epi8(_mm256_max_epi8(bytes, low), high));
  }
  return true;
}

bool mul(const Mul& op, const std::int8_t* a, const std::int8_t* b, std::int8_t* out) {
  BlockNumbers n = {};
  if (!spread(op.requantize, 255 * 255, n)) {
    return false;
  }
  const auto& by_parts = has_left(n) ? kMultiplyColumns<true> : kMultiplyColumns<false>;
  const std::int64_t image = std::int64_t{op.rows} * op.inner;
  for (int i = 0; i < op.outer; ++i, a += image, b += op.inner, out += image) {
    for (int j = 0; j < op.inner; j += kVector) {
      const int columns = op.inner - j < kVector ? op.inner - j : kVector;
      by_parts[(columns - 1) / kBlock](op, n, columns, a + j, b + j, out + j);
    }
  }
  return true;
}

void quantize_pixels(const Boundary& op, const float* in, std::int64_t count, std::int64_t values,
                     std::int64_t stride, std::int8_t* out) {
  constexpr std::int64_t kPixels = 16;
  const BoundaryNumbers n = {_mm512_set1_ps(op.factor),
                             _mm512_set1_ps(static_cast<float>(op.low - op.zero_point)),
                             _mm512_set1_ps(static_cast<float>(op.high - op.zero_point)),
                             _mm512_set1_epi32(op.zero_point)};
  const __m512i order = load_group_order(values);
  for (std::int64_t i = 0; i < count; i += kPixels) {
    const std::int64_t some = count - i < kPixels ? count - i : kPixels;
    const auto mask = static_cast<__mmask16>((1U << some) - 1);
    __m512i bytes = _mm512_castsi128_si512(quantize_some(in + i, mask, n));
    for (std::int64_t value = 1; value < values; ++value) {
      bytes = _mm512_mask_broadcast_i32x4(bytes, static_cast<__mmask16>(0xF << (4 * value)),
                                          quantize_some(in + value * stride + i, mask, n));
    }
    store_bytes(out + i * values, _mm512_permutexvar_epi8(order, bytes), some * values);
  }
}

}  // namespace fixedpoint::avx512
