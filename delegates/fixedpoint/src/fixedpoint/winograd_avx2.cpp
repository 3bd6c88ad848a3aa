#include "fixedpoint/avx2_block.h"
#include "fixedpoint/packed_conv.h"
#include "fixedpoint/winograd_conv.h"
#include "fixedpoint/x86.h"

#include <cstddef>
#include <cstdint>
#include <immintrin.h>

#pragma GCC target("avx2")

#include "fixedpoint/winograd_transform.h"

namespace fixedpoint::avx2 {
namespace {

struct Lanes {
  static constexpr int kCount = 16;
  typedef std::int16_t Words __attribute__((vector_size(32)));  // NOLINT(modernize-use-using)

  [[gnu::always_inline]] static Words load(const std::int8_t* in) {
    return reinterpret_cast<Words>(_mm256_cvtepi8_epi16(load_bytes(in)));
  }
};

struct Wide {
  typedef std::uint32_t Sums __attribute__((vector_size(32)));    // NOLINT(modernize-use-using)
  typedef std::int32_t Results __attribute__((vector_size(32)));  // NOLINT(modernize-use-using)
};
using Results = Wide::Results;

template <bool kHasLeft>
[[gnu::always_inline]] inline __m256i result_of(Results sums, const BlockNumbers& block, int half) {
  return requantize<kHasLeft>(reinterpret_cast<__m256i>(sums), block, half);
}

template <WinogradStep step, bool kHasLeft>
void finish_block(const std::int32_t* sums, std::ptrdiff_t place_step, const TileNumbers& numbers,
                  int channels, const WinogradResults& results) {
  const Bounds bounds = bounds_of(numbers.low, numbers.high);
  const BlockNumbers& block = *numbers.blocks;
  WinogradTile<step, Wide> first;
  WinogradTile<step, Wide> second;
  first.sum_up(sums, place_step);
  second.sum_up(sums + kHalf, place_step);
  for (int row = 0; row < results.rows; ++row) {
    std::int8_t* out = results.out + row * results.row_step;
    for (int column = 0; column < results.columns; column += 2, out += 2 * results.column_step) {
      const Results* x = &first.at[row][column];
      const Results* y = &second.at[row][column];
      const __m256i bytes =
          narrow(result_of<kHasLeft>(x[0], block, 0), result_of<kHasLeft>(y[0], block, 1),
                 result_of<kHasLeft>(x[1], block, 0), result_of<kHasLeft>(y[1], block, 1), bounds);
      store(out, _mm256_castsi256_si128(bytes), channels);
      if (column + 1 < results.columns) {
        store(out + results.column_step, _mm256_extracti128_si256(bytes, 1), channels);
      }
    }
  }
}

template <WinogradStep step>
void finish(const std::int32_t* sums, std::ptrdiff_t place_step, const TileNumbers& numbers,
            int channels, const WinogradResults& results) {
  if (has_left(*numbers.blocks)) {
    finish_block<step, true>(sums, place_step, numbers, channels, results);
  } else {
    finish_block<step, false>(sums, place_step, numbers, channels, results);
  }
}

template <WinogradStep step>
constexpr WinogradUnit unit_of() noexcept {
  return {.step = step,
          .gemm = &kGemm16,
          .transform = transform_tile<step, Lanes>,
          .finish = finish<step>};
}

}  // namespace

const WinogradUnit kWinograd2 = unit_of<WinogradStep::kTwo>();
const WinogradUnit kWinograd4 = unit_of<WinogradStep::kFour>();

}  // namespace fixedpoint::avx2
