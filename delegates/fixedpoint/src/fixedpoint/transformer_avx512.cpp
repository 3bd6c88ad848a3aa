#include "fixedpoint/avx512_block.h"
#include "fixedpoint/masked_softmax.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/packed_conv.h"
#include "fixedpoint/packed_matmul.h"
#include "fixedpoint/strided_reads.h"
#include "fixedpoint/transformer.h"
#include "fixedpoint/x86.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <immintrin.h>

#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")

namespace fixedpoint::avx512 {
namespace {

constexpr int kRows = 4;
constexpr int kGroup = 4;
constexpr int kLanes = 8;
constexpr int kColumns = 2 * kBlock;
constexpr int kGroupBytes = kColumns * kGroup;

/// Mask of the first `count` of 16 lanes.
__mmask16 first_of_16(std::int64_t count) {
  return static_cast<__mmask16>(count >= 16 ? 0xFFFF : (1U << count) - 1);
}
/// Mask of the first `count` of eight lanes.
__mmask8 first_of_8(std::int64_t count) {
  return static_cast<__mmask8>(count >= kLanes ? 0xFF : (1U << count) - 1);
}

__m128i load_bytes(const std::int8_t* in, __mmask16 mask) { return _mm_maskz_loadu_epi8(mask, in); }

/// Four depths of 16 rows of `in`, of which there are `rows` and `left` depths.
__m512i gather_group(const std::int8_t* in, std::ptrdiff_t depth, int rows, std::ptrdiff_t left) {
  if (left >= kGroup) {
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i places = _mm512_mullo_epi32(lanes, _mm512_set1_epi32(static_cast<int>(depth)));
    return _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), first_of_16(rows), places, in, 1);
  }
  alignas(64) std::int8_t bytes[kBlock * kGroup] = {};
  for (int row = 0; row < rows && row < kBlock; ++row) {
    std::memcpy(bytes + row * kGroup, in + row * depth, left);
  }
  return _mm512_load_si512(bytes);
}

/// Up to 16 columns; returns the sum of each.
__m512i pack_block(const std::int8_t* b, int columns, int depth, std::byte* packed) {
  const __m512i ones = _mm512_set1_epi8(1);
  __m512i sums = _mm512_setzero_si512();
  for (int k = 0; k < depth; k += kGroup, packed += kGroupBytes) {
    const __m512i group = gather_group(b + k, depth, columns, depth - k);
    _mm512_store_si512(packed, group);
    sums = _mm512_dpbusd_epi32(sums, ones, group);
  }
  return sums;
}

/// The sum of a row's values plus 128, which are written; what lies behind them may be any.
std::int32_t pack_row(const std::int8_t* a, int depth, std::byte* packed) {
  const __m512i sign = _mm512_set1_epi8(-128);
  const __m512i ones = _mm512_set1_epi8(1);
  __m512i sums = _mm512_setzero_si512();
  for (int k = 0; k < depth; k += 64) {
    const __mmask64 mask = ~std::uint64_t{0} >> (depth - k >= 64 ? 0 : 64 - (depth - k));
    const __m512i values = _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, a + k), sign);
    const __m512i shown = _mm512_maskz_mov_epi8(mask, values);
    _mm512_store_si512(packed + k, shown);
    sums = _mm512_dpbusd_epi32(sums, shown, ones);
  }
  return _mm512_reduce_add_epi32(sums);
}

/// Numbers shared by all blocks of four rows and 32 columns of a product.
struct Finish {
  Numbers numbers;
  Clamp clamp;
};

/// Four rows of 32 columns; rows beyond `rows` repeat the last, and are not stored.
template <bool kHasLeft>
void multiply_four(const MatmulRows& a, int row, const std::byte* b, const std::int32_t* starts,
                   const Finish& finish, std::int8_t* out, std::ptrdiff_t stride, int columns) {
  const std::byte* values[kRows];
  __m512i sums[2 * kRows];
#pragma GCC unroll 4
  for (int i = 0; i < kRows; ++i) {
    values[i] = a.values + (row + i < a.count ? row + i : a.count - 1) * a.stride;
    sums[2 * i] = _mm512_load_si512(starts);
    sums[2 * i + 1] = _mm512_load_si512(starts + kBlock);
  }
  for (std::ptrdiff_t group = 0; group < a.groups; ++group, b += kGroupBytes) {
    const __m512i first = _mm512_load_si512(b);
    const __m512i second = _mm512_load_si512(b + 64);
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) {
      std::int32_t four = 0;
      std::memcpy(&four, values[i] + group * kGroup, sizeof four);
      const __m512i x = _mm512_set1_epi32(four);
      sums[2 * i] = _mm512_dpbusd_epi32(sums[2 * i], x, first);
      sums[2 * i + 1] = _mm512_dpbusd_epi32(sums[2 * i + 1], x, second);
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < kRows; ++i) {
    const int read = row + i < a.count ? row + i : a.count - 1;
    const __m512i term = _mm512_set1_epi32(a.terms[read]);
    const __m512i left = requantize<kHasLeft>(_mm512_add_epi32(sums[2 * i], term), finish.numbers);
    const __m512i right =
        requantize<kHasLeft>(_mm512_add_epi32(sums[2 * i + 1], term), finish.numbers);
    if (row + i < a.count) {
      store_bytes(out + i * stride, narrow(left, right, left, right, finish.clamp), columns);
    }
  }
}

void multiply(const MatmulRows& a, const MatmulColumns& b, const TileNumbers& numbers,
              std::int8_t* out) {
  const Finish finish = {load(numbers.blocks[0]), clamp_of(numbers)};
  const auto multiply_some =
      has_left(numbers.blocks[0]) ? multiply_four<true> : multiply_four<false>;
  const std::byte* packed = b.packed;
  for (int column = 0; column < b.count; column += kColumns) {
    const int columns = b.count - column < kColumns ? b.count - column : kColumns;
    for (int row = 0; row < a.count; row += kRows) {
      multiply_some(a, row, packed, b.starts + column, finish,
                    out + std::ptrdiff_t{row} * b.count + column, b.count, columns);
    }
    packed += a.groups * kGroupBytes;
  }
}

void pack_columns(const std::int8_t* b, int columns, int depth, std::byte* packed,
                  std::int32_t* sums) {
  const std::ptrdiff_t groups = (depth + kGroup - 1) / kGroup;
  for (int column = 0; column < columns; column += kBlock) {
    std::byte* place = packed + column / kColumns * groups * kGroupBytes +
                       column % kColumns / kBlock * (kGroupBytes / 2);
    _mm512_store_si512(sums + column, pack_block(b + std::ptrdiff_t{column} * depth,
                                                 columns - column, depth, place));
  }
}

/// The exponentials of 16 values of a row.
__m512i exponentials_of(const Softmax& op, int most, const std::int8_t* in, __mmask16 mask) {
  const __m512i values = _mm512_cvtepi8_epi32(load_bytes(in, mask));
  const __m512i distances = _mm512_sub_epi32(_mm512_set1_epi32(most), values);
  return _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), mask, distances, op.exponentials, 4);
}

int most_of(const std::int8_t* in, std::int64_t count) {
  const __m512i least = _mm512_set1_epi8(-128);
  __m512i most = least;
  for (std::int64_t i = 0; i < count; i += 64) {
    const __mmask64 mask = ~std::uint64_t{0} >> (count - i >= 64 ? 0 : 64 - (count - i));
    most = _mm512_max_epi8(most, _mm512_mask_loadu_epi8(least, mask, in + i));
  }
  const __m256i half =
      _mm256_max_epi8(_mm512_castsi512_si256(most), _mm512_extracti64x4_epi64(most, 1));
  return _mm512_reduce_max_epi32(
      _mm512_max_epi32(_mm512_cvtepi8_epi32(_mm256_castsi256_si128(half)),
                       _mm512_cvtepi8_epi32(_mm256_extracti128_si256(half, 1))));
}

/// Bounds of 64 bits.
struct WideClamp {
  __m512i low, high;
  __m128i operator()(__m512i values) const {
    return _mm512_cvtepi64_epi8(_mm512_min_epi64(_mm512_max_epi64(values, low), high));
  }
};

/// Numbers that requantize a row of probabilities.
struct SoftmaxNumbers {
  __m512i reciprocal, multiplier, bias;
  __m128i shift;
  WideClamp clamp;

  /// Eight exponentials, each in 64 bits.
  __m128i operator()(__m512i exponentials) const {
    const __m512i shares = _mm512_srli_epi64(_mm512_mul_epu32(exponentials, reciprocal),
                                             kReciprocalBits - kSoftmaxBits);
    const __m512i products = _mm512_add_epi64(_mm512_mul_epi32(shares, multiplier), bias);
    return clamp(_mm512_sra_epi64(products, shift));
  }
};

/// A row from its largest value on; kept(i): the lanes from place i on that have a weight.
template <class Kept>
void softmax_row(const Softmax& op, int most, const std::int8_t* in, std::int8_t* out, Kept kept) {
  __m512i sums = _mm512_setzero_si512();
  for (std::int64_t i = 0; i < op.columns; i += kBlock) {
    const __m512i e = exponentials_of(op, most, in + i, kept(i));
    sums = _mm512_add_epi64(sums, _mm512_cvtepu32_epi64(_mm512_castsi512_si256(e)));
    sums = _mm512_add_epi64(sums, _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(e, 1)));
  }
  const std::int64_t reciprocal =
      (std::int64_t{1} << kReciprocalBits) / _mm512_reduce_add_epi64(sums);
  const SoftmaxNumbers finish = {
      _mm512_set1_epi64(reciprocal),
      _mm512_set1_epi64(op.requantize.multiplier),
      _mm512_set1_epi64(op.requantize.bias),
      _mm_cvtsi32_si128(op.requantize.shift),
      {_mm512_set1_epi64(op.requantize.low), _mm512_set1_epi64(op.requantize.high)}};
  for (std::int64_t i = 0; i < op.columns; i += kBlock) {
    const __m512i e = exponentials_of(op, most, in + i, kept(i));
    const __m128i first = finish(_mm512_cvtepu32_epi64(_mm512_castsi512_si256(e)));
    const __m128i second = finish(_mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(e, 1)));
    _mm_mask_storeu_epi8(out + i, first_of_16(op.columns - i), _mm_unpacklo_epi64(first, second));
  }
}

void plain_row(const Softmax& op, const std::int8_t* in, std::int8_t* out) {
  softmax_row(op, most_of(in, op.columns), in, out,
              [&](std::int64_t i) { return first_of_16(op.columns - i); });
}

/// Lanes from position i on that a row of the mask keeps. The bytes of a row are neighbors.
__mmask16 kept_of(const MaskedSoftmax& op, const std::uint8_t* mask, std::int64_t i) {
  const __mmask16 lanes = first_of_16(op.softmax.columns - i);
  const __m128i bytes = _mm_maskz_loadu_epi8(lanes, mask + i);
  const __mmask16 nonzero = _mm_test_epi8_mask(bytes, bytes);
  return static_cast<__mmask16>((op.masks_nonzero ? ~nonzero : nonzero) & lanes);
}

void masked_row(const MaskedSoftmax& op, const std::int8_t* in, const std::uint8_t* mask,
                std::int8_t* out) {
  const Softmax& s = op.softmax;
  __m128i most = _mm_set1_epi8(-128);
  unsigned any = 0;
  for (std::int64_t i = 0; i < s.columns; i += kBlock) {
    const __mmask16 kept = kept_of(op, mask, i);
    most = _mm_mask_max_epi8(most, kept, most, load_bytes(in + i, kept));
    any |= kept;
  }
  if (any == 0) {
    std::memset(out, s.requantize(empty_probability(op)), s.columns);
    return;
  }
  softmax_row(s, _mm512_reduce_max_epi32(_mm512_cvtepi8_epi32(most)), in, out,
              [&](std::int64_t i) { return kept_of(op, mask, i); });
}

struct RowSums {
  std::int64_t sum;
  std::int64_t squares;
};

/// Both fit 32 bits: a row has at most 2^14 values.
RowSums sums_of(const std::int8_t* in, std::int64_t count) {
  const __m512i ones = _mm512_set1_epi16(1);
  __m512i sums = _mm512_setzero_si512();
  __m512i squares = _mm512_setzero_si512();
  for (std::int64_t i = 0; i < count; i += 32) {
    const __mmask32 mask = ~std::uint32_t{0} >> (count - i >= 32 ? 0 : 32 - (count - i));
    const __m512i values = _mm512_cvtepi8_epi16(_mm256_maskz_loadu_epi8(mask, in + i));
    sums = _mm512_dpwssd_epi32(sums, values, ones);
    squares = _mm512_dpwssd_epi32(squares, values, values);
  }
  return {_mm512_reduce_add_epi32(sums), _mm512_reduce_add_epi32(squares)};
}

void normalize_row(const LayerNorm& op, const std::int8_t* in, std::int8_t* out) {
  const RowSums row = sums_of(in, op.columns);
  const InverseRoot inverse = inverse_deviation(op, row.sum, row.squares);
  const __m512i factor = _mm512_set1_epi64(inverse.factor);
  const __m512i half = _mm512_set1_epi64(std::int64_t{1} << (inverse.shift - 1));
  const __m128i shift = _mm_cvtsi32_si128(inverse.shift);
  const __m512i columns = _mm512_set1_epi64(op.columns);
  const __m512i sum = _mm512_set1_epi64(row.sum);
  const WideClamp clamp = {_mm512_set1_epi64(op.low), _mm512_set1_epi64(op.high)};
  for (std::int64_t i = 0; i < op.columns; i += kLanes) {
    const __mmask8 mask = first_of_8(op.columns - i);
    const __m512i x = _mm512_cvtepi8_epi64(_mm_maskz_loadu_epi8(mask, in + i));
    const __m512i distances = _mm512_sub_epi64(_mm512_mul_epi32(x, columns), sum);
    const __m512i normalized =
        _mm512_sra_epi64(_mm512_add_epi64(_mm512_mullo_epi64(distances, factor), half), shift);
    const __m512i multipliers =
        _mm512_cvtepi32_epi64(_mm256_maskz_loadu_epi32(mask, op.multipliers + i));
    const __m512i biases = _mm512_maskz_loadu_epi64(mask, op.biases + i);
    const __m512i shifts = _mm512_cvtepu8_epi64(_mm_maskz_loadu_epi8(mask, op.shifts + i));
    const __m512i values = _mm512_srav_epi64(
        _mm512_add_epi64(_mm512_mul_epi32(normalized, multipliers), biases), shifts);
    _mm_mask_storeu_epi8(out + i, mask, clamp(values));
  }
}

}  // namespace

const MatmulUnit kMatmul = {.columns = kColumns,
                            .group = kGroup,
                            .pack_row = pack_row,
                            .pack_columns = pack_columns,
                            .multiply = multiply};

void softmax(const Softmax& op, const std::int8_t* in, std::int8_t* out) {
  by_rows(op, in, out, plain_row);
}

void masked_softmax(const MaskedSoftmax& op, const std::int8_t* in, const std::uint8_t* mask,
                    std::int8_t* out) {
  if (op.mask_stride() != 1) {
    fixedpoint::masked_softmax(op, in, mask, out);
    return;
  }
  for_each_position(op.mask, op.mask.rank - 1, [&](std::int64_t position) {
    masked_row(op, in, mask + position, out);
    in += op.softmax.columns;
    out += op.softmax.columns;
  });
}

void layer_norm(const LayerNorm& op, const std::int8_t* in, std::int8_t* out) {
  by_rows(op, in, out, normalize_row);
}

}  // namespace fixedpoint::avx512
