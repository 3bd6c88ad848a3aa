#include "fixedpoint/avx512_block.h"
#include "fixedpoint/halved_sum.h"
#include "fixedpoint/operations.h"
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
