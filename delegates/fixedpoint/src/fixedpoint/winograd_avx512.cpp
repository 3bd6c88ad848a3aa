#include "fixedpoint/avx512_block.h"
#include "fixedpoint/packed_conv.h"
#include "fixedpoint/winograd_conv.h"
#include "fixedpoint/x86.h"

#include <cstddef>
#include <cstdint>
#include <immintrin.h>

#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq")

#include "fixedpoint/winograd_transform.h"

namespace fixedpoint::avx512 {
namespace {

struct Lanes {
  static constexpr int kCount = 32;
  typedef std::int16_t Words __attribute__((vector_size(64)));  // NOLINT(modernize-use-using)

  [[gnu::always_inline]] static Words load(const std::int8_t* in) {
    const auto* bytes = reinterpret_cast<const __m256i*>(in);
    return reinterpret_cast<Words>(_mm512_cvtepi8_epi16(_mm256_loadu_si256(bytes)));
  }
};

struct Wide {
  typedef std::uint32_t Sums __attribute__((vector_size(64)));    // NOLINT(modernize-use-using)
  typedef std::int32_t Results __attribute__((vector_size(64)));  // NOLINT(modernize-use-using)
};
using Results = Wide::Results;

/// Sums become results before the clamp.
template <bool kHasLeft, WinogradStep step>
[[gnu::always_inline]] inline void requantize_all(WinogradTile<step, Wide>& tile,
                                                  const Numbers& n) {
  for (auto& row : tile.at) {
    for (auto& sums : row) {
      sums = reinterpret_cast<Results>(requantize<kHasLeft>(reinterpret_cast<__m512i>(sums), n));
    }
  }
}

template <WinogradStep step>
[[gnu::always_inline]] inline void finish_block(const std::int32_t* sums, std::ptrdiff_t place_step,
                                                const BlockNumbers& block,
                                                WinogradTile<step, Wide>& tile) {
  tile.sum_up(sums, place_step);
  if (has_left(block)) {
    requantize_all<true>(tile, load(block));
  } else {
    requantize_all<false>(tile, load(block));
  }
}

[[gnu::always_inline]] inline __m512i narrow(const Results* first, const Results* second,
                                             const Clamp& clamp) {
  return narrow(reinterpret_cast<__m512i>(first[0]), reinterpret_cast<__m512i>(second[0]),
                reinterpret_cast<__m512i>(first[1]), reinterpret_cast<__m512i>(second[1]), clamp);
}

template <WinogradStep step>
void finish(const std::int32_t* sums, std::ptrdiff_t place_step, const TileNumbers& numbers,
            int channels, const WinogradResults& results) {
  const Clamp clamp = clamp_of(numbers);
  WinogradTile<step, Wide> first;
  WinogradTile<step, Wide> second;
  finish_block(sums, place_step, numbers.blocks[0], first);
  finish_block(sums + kBlock, place_step, numbers.blocks[1], second);
  for (int row = 0; row < results.rows; ++row) {
    std::int8_t* out = results.out + row * results.row_step;
    for (int column = 0; column < results.columns; column += 2, out += 2 * results.column_step) {
      const __m512i bytes = narrow(&first.at[row][column], &second.at[row][column], clamp);
      if (column + 1 < results.columns) {
        store_two_rows(out, results.column_step, bytes, channels);
      } else {
        store_bytes(out, bytes, channels);
      }
    }
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

}  // namespace fixedpoint::avx512
