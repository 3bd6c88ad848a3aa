#include "fixedpoint/avx2_block.h"
#include "fixedpoint/format.h"
#include "fixedpoint/kernels.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/packed_conv.h"
#include "fixedpoint/transformer.h"
#include "fixedpoint/x86.h"

#include <cstdint>
#include <cstring>
#include <immintrin.h>

#pragma GCC target("avx2")

namespace fixedpoint::avx2 {
namespace {

/// `in`, or a copy of the first `count` of four with zeros behind them.
template <class T>
const T* four_of(const T* in, std::int64_t count, T (&copy)[kFour]) {
  if (count >= kFour) {
    return in;
  }
  std::memset(copy, 0, sizeof copy);
  std::memcpy(copy, in, count * sizeof *in);
  return copy;
}

__m256i load_four(const std::int16_t* in, std::int64_t count) {
  std::int16_t copy[kFour];
  const auto* four = reinterpret_cast<const __m128i*>(four_of(in, count, copy));
  return _mm256_cvtepi16_epi64(_mm_loadl_epi64(four));
}

__m256i load_four(const std::int32_t* in, std::int64_t count) {
  std::int32_t copy[kFour];
  const auto* four = reinterpret_cast<const __m128i*>(four_of(in, count, copy));
  return _mm256_cvtepi32_epi64(_mm_loadu_si128(four));
}

__m256i load_four(const std::int64_t* in, std::int64_t count) {
  std::int64_t copy[kFour];
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(four_of(in, count, copy)));
}

__m256i load_four(const std::uint8_t* in, std::int64_t count) {
  std::uint8_t copy[kFour];
  std::int32_t bytes = 0;
  std::memcpy(&bytes, four_of(in, count, copy), sizeof bytes);
  return _mm256_cvtepu8_epi64(_mm_cvtsi32_si128(bytes));
}

std::int64_t add_lanes(__m256i sums) {
  const __m128i pair =
      _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
  return _mm_extract_epi64(pair, 0) + _mm_extract_epi64(pair, 1);
}

int largest_of(const std::int16_t* in, std::int64_t count) {
  __m256i most = _mm256_set1_epi16(*in);
  std::int64_t i = 0;
  for (; i + kBlock <= count; i += kBlock) {
    most = _mm256_max_epi16(most, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + i)));
  }
  alignas(32) std::int16_t lanes[kBlock];
  _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), most);
  int largest = *lanes;
  for (const std::int16_t lane : lanes) {
    largest = lane > largest ? lane : largest;
  }
  for (; i < count; ++i) {
    largest = in[i] > largest ? in[i] : largest;
  }
  return largest;
}

/// Four products of both tables' exponentials, rounded half up; 0 for lanes beyond `count`.
__m256i exponentials(const Softmax& op, int most, const std::int16_t* in, std::int64_t count) {
  const __m256i distances = _mm256_sub_epi64(_mm256_set1_epi64x(most), load_four(in, count));
  const __m256i lanes =
      _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
  const __m256i shown = _mm256_and_si256(distances, lanes);
  const __m256i rest = _mm256_and_si256(shown, _mm256_set1_epi64x(255));
  const __m128i coarse =
      _mm256_i64gather_epi32(op.exponentials, _mm256_srli_epi64(shown, 8), sizeof(std::int32_t));
  const __m128i fine = _mm256_i64gather_epi32(op.exponentials + 256, rest, sizeof(std::int32_t));
  const __m256i product =
      _mm256_mul_epu32(_mm256_cvtepu32_epi64(coarse), _mm256_cvtepu32_epi64(fine));
  const __m256i half = _mm256_set1_epi64x(std::int64_t{1} << (kSoftmaxBits - 1));
  return _mm256_and_si256(_mm256_srli_epi64(_mm256_add_epi64(product, half), kSoftmaxBits), lanes);
}

void softmax_row(const Softmax& op, const std::int16_t* in, std::int16_t* out) {
  const int most = largest_of(in, op.columns);
  __m256i sums = _mm256_setzero_si256();
  for (std::int64_t i = 0; i < op.columns; i += kFour) {
    sums = _mm256_add_epi64(sums, exponentials(op, most, in + i, op.columns - i));
  }
  const Requantize& r = op.requantize;
  const __m256i reciprocal =
      _mm256_set1_epi64x((std::int64_t{1} << kReciprocalBits) / add_lanes(sums));
  const __m256i multiplier = _mm256_set1_epi64x(r.multiplier);
  const __m256i bias = _mm256_set1_epi64x(r.bias);
  const __m256i shift = _mm256_set1_epi64x(r.shift);
  const WideBounds bounds(r.low, r.high);
  for (std::int64_t i = 0; i < op.columns; i += kFour) {
    const __m256i product =
        _mm256_mul_epu32(exponentials(op, most, in + i, op.columns - i), reciprocal);
    const __m256i share = _mm256_srli_epi64(product, kReciprocalBits - kSoftmaxBits);
    const __m256i sum = _mm256_add_epi64(_mm256_mul_epu32(share, multiplier), bias);
    store_four(out + i, bounds.clamp(shift_right(sum, shift)), op.columns - i);
  }
}

struct Moments {
  std::int64_t sum, squares;
};

Moments moments_of(const std::int16_t* in, std::int64_t columns) {
  const __m256i ones = _mm256_set1_epi16(1);
  const __m256i lower = _mm256_set1_epi64x(0xFFFFFFFF);
  __m256i sums = _mm256_setzero_si256();
  __m256i squares = _mm256_setzero_si256();
  for (std::int64_t i = 0; i < columns; i += kBlock) {
    const std::int64_t left = columns - i;
    const __m256i values = load_some(in + i, left < kBlock ? static_cast<int>(left) : kBlock);
    sums = _mm256_add_epi32(sums, _mm256_madd_epi16(values, ones));
    const __m256i pairs = _mm256_madd_epi16(values, values);  // Up to 2^31, without a sign.
    squares = _mm256_add_epi64(squares, _mm256_and_si256(pairs, lower));
    squares = _mm256_add_epi64(squares, _mm256_srli_epi64(pairs, 32));
  }
  const __m256i wide = _mm256_add_epi64(_mm256_cvtepi32_epi64(_mm256_castsi256_si128(sums)),
                                        _mm256_cvtepi32_epi64(_mm256_extracti128_si256(sums, 1)));
  return {.sum = add_lanes(wide), .squares = add_lanes(squares)};
}

void normalize_row(const LayerNorm& op, const Moments& moments, const InverseRoot& inverse,
                   const std::int16_t* in, std::int16_t* out) {
  const __m256i columns = _mm256_set1_epi64x(op.columns);
  const __m256i sum = _mm256_set1_epi64x(moments.sum);
  const __m256i factor = _mm256_set1_epi64x(inverse.factor);
  const __m256i half = _mm256_set1_epi64x(std::int64_t{1} << (inverse.shift - 1));
  const __m256i shift = _mm256_set1_epi64x(inverse.shift);
  const WideBounds bounds(op.low, op.high);
  for (std::int64_t i = 0; i < op.columns; i += kFour) {
    const std::int64_t left = op.columns - i;
    const __m256i value = load_four(in + i, left);
    const __m256i distance = _mm256_sub_epi64(_mm256_mul_epi32(value, columns), sum);
    const __m256i normalized =
        shift_right(_mm256_add_epi64(_mm256_mul_epi32(distance, factor), half), shift);
    const __m256i product = _mm256_mul_epi32(normalized, load_four(op.multipliers + i, left));
    const __m256i biased = _mm256_add_epi64(product, load_four(op.biases + i, left));
    const __m256i results = shift_right(biased, load_four(op.shifts + i, left));
    store_four(out + i, bounds.clamp(results), left);
  }
}

}  // namespace

bool softmax16(const Softmax& op, const std::int16_t* in, std::int16_t* out) {
  if (op.requantize.rounding != Rounding::kHalfUp) {
    return false;
  }
  for (std::int64_t row = 0; row < op.rows; ++row) {
    softmax_row(op, in + row * op.columns, out + row * op.columns);
  }
  return true;
}

void layer_norm16(const LayerNorm& op, const std::int16_t* in, std::int16_t* out) {
  for (std::int64_t row = 0; row < op.rows; ++row, in += op.columns, out += op.columns) {
    const Moments moments = moments_of(in, op.columns);
    const InverseRoot inverse = inverse_deviation(op, moments.sum, moments.squares);
    // A factor of 2^31 does not fit 32 bits with a sign.
    if (inverse.factor >> 31 == 0) {
      normalize_row(op, moments, inverse, in, out);
    } else {
      auto one = op;
      one.rows = 1;
      kScalarKernels16.layer_norm(one, in, out);
    }
  }
}

}  // namespace fixedpoint::avx2
