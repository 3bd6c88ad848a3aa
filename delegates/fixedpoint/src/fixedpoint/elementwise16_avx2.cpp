#include "fixedpoint/avx2_block.h"
#include "fixedpoint/format.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/packed_conv.h"
#include "fixedpoint/packed_matmul16.h"
#include "fixedpoint/x86.h"

#include <cstdint>
#include <immintrin.h>

#pragma GCC target("avx2")

namespace fixedpoint::avx2 {
namespace {

constexpr std::int64_t kMostProduct = std::int64_t{1} << 30;

/// Where products may be cut off: what is larger gives a result beyond 16 bits in any case. With
/// products of half of a shift at least and 30 bits of a multiplier results are 2^29 and more, of
/// which the bias takes 2^28 at most.
std::int64_t limit_of(const Requantize& r) {
  const std::int64_t bias = r.bias < 0 ? -r.bias : r.bias;
  const bool may_cut = r.shift < 32 && r.multiplier >> 30 != 0 && bias >> (r.shift + 28) == 0;
  const std::int64_t cut = (std::int64_t{1} << (r.shift - 1)) - 1;
  return may_cut && cut < kMostProduct ? cut : kMostProduct;
}

/// Numbers that turn products into results.
struct Limits {
  const BlockNumbers& numbers;
  __m256i least, most;
  Bounds bounds;

  template <int kHalf>
  [[gnu::always_inline]] __m256i finish(__m256i products) const {
    const __m256i cut = _mm256_max_epi32(_mm256_min_epi32(products, most), least);
    return requantize<true>(cut, numbers, kHalf);
  }
};

/// `count` values by as many, or all by the first one.
template <bool kIsByOne>
void multiply_row(const Limits& limits, const std::int16_t* a, const std::int16_t* b, int count,
                  std::int16_t* out) {
  const __m256i one = _mm256_set1_epi16(*b);
  for (int i = 0; i < count; i += kBlock) {
    const __m256i x = load_some(a + i, count - i);
    const __m256i y = kIsByOne ? one : load_some(b + i, count - i);
    const __m256i lower = _mm256_mullo_epi16(x, y);
    const __m256i upper = _mm256_mulhi_epi16(x, y);
    const __m256i first = limits.finish<0>(_mm256_unpacklo_epi16(lower, upper));
    const __m256i second = limits.finish<1>(_mm256_unpackhi_epi16(lower, upper));
    store(out + i, narrow_wide_in_lanes(first, second, limits.bounds), count - i);
  }
}

/// Eight values between their neighbours of the 513 entries, by the lower 7 bits.
__m256i interpolate(const std::int16_t* entries, __m256i x) {
  const __m256i index = _mm256_srai_epi32(x, 7);
  // Both neighbours at once: the lower half of a lane is the left one.
  const auto* middle = reinterpret_cast<const int*>(entries + 256);
  const __m256i both = _mm256_i32gather_epi32(middle, index, sizeof(std::int16_t));
  const __m256i left = _mm256_srai_epi32(_mm256_slli_epi32(both, 16), 16);
  const __m256i slope = _mm256_sub_epi32(_mm256_srai_epi32(both, 16), left);
  const __m256i part = _mm256_and_si256(x, _mm256_set1_epi32(127));
  const __m256i step = _mm256_add_epi32(_mm256_mullo_epi32(slope, part), _mm256_set1_epi32(64));
  return _mm256_add_epi32(left, _mm256_srai_epi32(step, 7));
}

/// Four results in 64 bits before the clamp, rounded half up, as requantize_wide takes them apart.
struct WideNumbers {
  __m256i multiplier, bias_below, bias_above, right;

  explicit WideNumbers(const Requantize& r)
      : multiplier(_mm256_set1_epi64x(r.multiplier)),
        bias_below(_mm256_set1_epi64x(r.bias & 0xFFFF)),
        bias_above(_mm256_set1_epi64x(r.bias >> 16)),
        right(_mm256_set1_epi64x(r.shift - 16)) {}

  __m256i finish(__m256i sums) const {
    const __m256i lower = _mm256_and_si256(sums, _mm256_set1_epi64x(0xFFFF));
    const __m256i below = _mm256_add_epi64(_mm256_mul_epu32(lower, multiplier), bias_below);
    const __m256i upper = _mm256_mul_epi32(_mm256_srli_epi64(sums, 16), multiplier);
    const __m256i above =
        _mm256_add_epi64(_mm256_add_epi64(upper, bias_above), _mm256_srli_epi64(below, 16));
    return shift_right(above, right);
  }
};

}  // namespace

void requantize_row(const Requantize& numbers, const std::int64_t* sums, int count,
                    std::int16_t* out) {
  int i = 0;
  if (numbers.rounding == Rounding::kHalfUp) {
    const WideNumbers wide(numbers);
    const WideBounds bounds(numbers.low, numbers.high);
    for (; i + kFour <= count; i += kFour) {
      const __m256i row = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(sums + i));
      store_four(out + i, bounds.clamp(wide.finish(row)), kFour);
    }
  }
  fixedpoint::requantize_row(numbers, sums + i, count - i, out + i);
}

bool mul16(const Mul& op, const std::int16_t* a, const std::int16_t* b, std::int16_t* out) {
  BlockNumbers n = {};
  const std::int64_t limit = limit_of(op.requantize);
  if (op.zero_point_a != 0 || op.zero_point_b != 0 || !spread(op.requantize, limit, n)) {
    return false;
  }
  const Limits limits = {.numbers = n,
                         .least = _mm256_set1_epi32(static_cast<std::int32_t>(-limit)),
                         .most = _mm256_set1_epi32(static_cast<std::int32_t>(limit)),
                         .bounds = wide_bounds_of(op.requantize.low, op.requantize.high)};
  const bool is_by_one = op.inner == 1;
  const int rows = is_by_one ? 1 : op.rows;
  const int columns = is_by_one ? op.rows : op.inner;
  for (int i = 0; i < op.outer; ++i, b += op.inner) {
    for (int row = 0; row < rows; ++row, a += columns, out += columns) {
      if (is_by_one) {
        multiply_row<true>(limits, a, b, columns, out);
      } else {
        multiply_row<false>(limits, a, b, columns, out);
      }
    }
  }
  return true;
}

void table16(const std::int16_t* entries, std::int64_t count, const std::int16_t* in,
             std::int16_t* out) {
  const Bounds all = wide_bounds_of(-32768, 32767);
  for (std::int64_t i = 0; i < count; i += kBlock) {
    const int some = count - i < kBlock ? static_cast<int>(count - i) : kBlock;
    const __m256i x = load_some(in + i, some);
    const __m256i sign = _mm256_srai_epi16(x, 15);
    const __m256i first = interpolate(entries, _mm256_unpacklo_epi16(x, sign));
    const __m256i second = interpolate(entries, _mm256_unpackhi_epi16(x, sign));
    store(out + i, narrow_wide_in_lanes(first, second, all), some);
  }
}

}  // namespace fixedpoint::avx2
