#include "fixedpoint/avx512_block.h"
#include "fixedpoint/packed_conv.h"
#include "fixedpoint/turn_signs.h"
#include "fixedpoint/x86.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <immintrin.h>

#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx512vbmi")

namespace fixedpoint::avx512 {
namespace {

constexpr int kRows = 12;
constexpr int kTileBlocks = 2;
constexpr int kGroup = 4;

/// From 16 to 32 bytes, by two vectors that overlap.
[[gnu::always_inline]] inline void pack_some(const std::int8_t* in, int count, std::byte* packed) {
  const __m128i sign = _mm_set1_epi8(-128);
  const int place = count - 16;
  const auto* last = reinterpret_cast<const __m128i*>(in + place);
  const __m128i second = _mm_xor_si128(_mm_loadu_si128(last), sign);
  const auto* first = reinterpret_cast<const __m128i*>(in);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(packed), _mm_xor_si128(_mm_loadu_si128(first), sign));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(packed + place), second);
}

void pack(const std::int8_t* in, int count, std::byte* packed) {
  if (count < 16) {
    turn_signs_of_few(in, count, packed);
    return;
  }
  if (count <= 32) {
    pack_some(in, count, packed);
    return;
  }
  const __m512i sign = _mm512_set1_epi8(-128);
  int i = 0;
  for (; i + 64 <= count; i += 64) {
    _mm512_storeu_si512(packed + i, _mm512_xor_si512(_mm512_loadu_si512(in + i), sign));
  }
  if (i < count) {
    const __mmask64 rest = ~std::uint64_t{0} >> (64 - (count - i));
    store_bytes(packed + i, _mm512_xor_si512(_mm512_maskz_loadu_epi8(rest, in + i), sign),
                count - i);
  }
}

/// The sums of a tile's rows, one member each: an array of them would live in memory.
template <int kCount, int kBlocks>
struct Rows {
  __m512i first, second;
  Rows<kCount - 1, kBlocks> rest;

  [[gnu::always_inline]] void start(__m512i first_start, __m512i second_start) {
    first = first_start;
    second = second_start;
    rest.start(first_start, second_start);
  }
  [[gnu::always_inline]] void add(const std::byte* a, std::ptrdiff_t stride, __m512i first_weights,
                                  __m512i second_weights) {
    std::int32_t values = 0;
    std::memcpy(&values, a, sizeof values);
    const __m512i x = _mm512_set1_epi32(values);
    first = _mm512_dpbusd_epi32(first, x, first_weights);
    if constexpr (kBlocks > 1) {
      second = _mm512_dpbusd_epi32(second, x, second_weights);
    }
    rest.add(a + stride, stride, first_weights, second_weights);
  }
  template <bool kHasLeft>
  [[gnu::always_inline]] void requantize_first(const Numbers& n) {
    first = requantize<kHasLeft>(first, n);
    rest.template requantize_first<kHasLeft>(n);
  }
  template <bool kHasLeft>
  [[gnu::always_inline]] void requantize_second(const Numbers& n) {
    second = requantize<kHasLeft>(second, n);
    rest.template requantize_second<kHasLeft>(n);
  }
  /// Two rows at a time.
  [[gnu::always_inline]] void store(const Clamp& clamp, int channels, std::int8_t* out,
                                    std::ptrdiff_t stride) {
    if constexpr (kCount == 1) {
      store_bytes(out, narrow(first, second, first, second, clamp), channels);
    } else {
      const __m512i bytes = narrow(first, second, rest.first, rest.second, clamp);
      store_two_rows(out, stride, bytes, channels);
      rest.rest.store(clamp, channels, out + 2 * stride, stride);
    }
  }
};

template <int kBlocks>
struct Rows<0, kBlocks> {
  void start(__m512i /*first*/, __m512i /*second*/) {}
  void add(const std::byte* /*a*/, std::ptrdiff_t /*stride*/, __m512i /*first*/,
           __m512i /*second*/) {}
  template <bool kHasLeft>
  void requantize_first(const Numbers& /*n*/) {}
  template <bool kHasLeft>
  void requantize_second(const Numbers& /*n*/) {}
  void store(const Clamp& /*clamp*/, int /*channels*/, std::int8_t* /*out*/,
             std::ptrdiff_t /*stride*/) {}
};

/// A tile of `kCount` rows and as many blocks of channels as there are; weights always lie for two.
template <int kCount, int kBlocks>
void multiply_rows(const std::byte* a, std::ptrdiff_t a_stride, const std::byte* b, int groups,
                   const TileNumbers& numbers, std::int8_t* out, std::ptrdiff_t out_stride,
                   int channels) {
  Rows<kCount, kBlocks> rows;
  rows.start(_mm512_load_si512(numbers.blocks[0].start),
             _mm512_load_si512(numbers.blocks[1].start));
  for (int group = 0; group < groups; ++group) {
    rows.add(a + group * kGroup, a_stride, _mm512_load_si512(b), _mm512_load_si512(b + 64));
    b += 64 * kTileBlocks;
  }
  if (has_left(numbers.blocks[0])) {
    rows.template requantize_first<true>(load(numbers.blocks[0]));
  } else {
    rows.template requantize_first<false>(load(numbers.blocks[0]));
  }
  if constexpr (kBlocks > 1) {
    if (has_left(numbers.blocks[1])) {
      rows.template requantize_second<true>(load(numbers.blocks[1]));
    } else {
      rows.template requantize_second<false>(load(numbers.blocks[1]));
    }
  }
  rows.store(clamp_of(numbers), channels, out, out_stride);
}

using Multiply = void (*)(const std::byte*, std::ptrdiff_t, const std::byte*, int,
                          const TileNumbers&, std::int8_t*, std::ptrdiff_t, int);

template <int kBlocks>
struct Tiles {
  Multiply by_rows[kRows + 1] = {nullptr,
                                 multiply_rows<1, kBlocks>,
                                 multiply_rows<2, kBlocks>,
                                 multiply_rows<3, kBlocks>,
                                 multiply_rows<4, kBlocks>,
                                 multiply_rows<5, kBlocks>,
                                 multiply_rows<6, kBlocks>,
                                 multiply_rows<7, kBlocks>,
                                 multiply_rows<8, kBlocks>,
                                 multiply_rows<9, kBlocks>,
                                 multiply_rows<10, kBlocks>,
                                 multiply_rows<11, kBlocks>,
                                 multiply_rows<12, kBlocks>};
};

constexpr Tiles<1> kNarrow;
constexpr Tiles<2> kWide;

void multiply(const std::byte* a, std::ptrdiff_t a_stride, int rows, const std::byte* b, int groups,
              const TileNumbers& numbers, std::int8_t* out, std::ptrdiff_t out_stride,
              int channels) {
  const Multiply by_rows = channels <= kBlock ? kNarrow.by_rows[rows] : kWide.by_rows[rows];
  by_rows(a, a_stride, b, groups, numbers, out, out_stride, channels);
}

}  // namespace

const GemmUnit kGemm = {.packing = {.channels = kTileBlocks * kBlock,
                                    .group = kGroup,
                                    .weight_bytes = 1,
                                    .activation_offset = kTurnedSign,
                                    .channel_of = same_channel},
                        .rows = kRows,
                        .element_bytes = 1,
                        .pack = pack,
                        .multiply = multiply};

bool is_supported() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vbmi");
}

void table(const std::int8_t* results, std::int64_t count, const std::int8_t* in,
           std::int8_t* out) {
  // Bytes index 128 results by their low seven bits: non-negative values lie in the upper half.
  const __m512i n0 = _mm512_loadu_si512(results);
  const __m512i n1 = _mm512_loadu_si512(results + 64);
  const __m512i p0 = _mm512_loadu_si512(results + 128);
  const __m512i p1 = _mm512_loadu_si512(results + 192);
  for (std::int64_t i = 0; i < count; i += 64) {
    const __mmask64 mask = ~std::uint64_t{0} >> (count - i >= 64 ? 0 : 64 - (count - i));
    const __m512i x = _mm512_maskz_loadu_epi8(mask, in + i);
    const __m512i negative = _mm512_permutex2var_epi8(n0, x, n1);
    const __m512i positive = _mm512_permutex2var_epi8(p0, x, p1);
    store_bytes(out + i, _mm512_mask_blend_epi8(_mm512_movepi8_mask(x), positive, negative),
                count - i);
  }
}

}  // namespace fixedpoint::avx512
