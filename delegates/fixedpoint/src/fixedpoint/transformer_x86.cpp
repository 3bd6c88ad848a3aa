#include "fixedpoint/transformer.h"

#include <cstdint>
#include <immintrin.h>

namespace fixedpoint {
namespace {

constexpr int kColumns = 4;

[[gnu::target("avx2")]] inline __m256i load(const std::int16_t* values) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(values));
}

/// The sums of the four vectors' lanes.
[[gnu::target("avx2")]] inline __m128i add_lanes(__m256i a, __m256i b, __m256i c, __m256i d) {
  const __m256i quads = _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));
  return _mm_add_epi32(_mm256_castsi256_si128(quads), _mm256_extracti128_si256(quads, 1));
}

[[gnu::target("avx2")]] inline __m128i dot_four(const std::int16_t* a, const std::int16_t* b,
                                                int depth) {
  __m256i sums[kColumns] = {};
  for (int k = 0; k < depth; k += kDotAlignment) {
    const __m256i left = load(a + k);
    for (int j = 0; j < kColumns; ++j) {
      const __m256i right = load(b + std::int64_t{j} * depth + k);
      sums[j] = _mm256_add_epi32(sums[j], _mm256_madd_epi16(left, right));
    }
  }
  return add_lanes(sums[0], sums[1], sums[2], sums[3]);
}

}  // namespace

[[gnu::target("avx2")]] void dot_rows_avx2(const std::int16_t* a, const std::int16_t* b,
                                           int columns, int depth, std::int32_t* sums) {
  const int whole = columns / kColumns * kColumns;
  for (int j = 0; j < whole; j += kColumns) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(sums + j),
                     dot_four(a, b + std::int64_t{j} * depth, depth));
  }
  dot_rows(a, b + std::int64_t{whole} * depth, columns - whole, depth, sums + whole);
}

}  // namespace fixedpoint
