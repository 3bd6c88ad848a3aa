#include "fixedpoint/neon.h"
#include "fixedpoint/neon_block.h"
#include "fixedpoint/packed_conv.h"
#include "fixedpoint/winograd_conv.h"
#include "fixedpoint/winograd_lanes.h"
#include "fixedpoint/winograd_transform.h"

#include <arm_neon.h>
#include <cstddef>
#include <cstdint>

namespace fixedpoint::neon {
namespace {

struct Wide {
  typedef std::uint32_t Sums __attribute__((vector_size(16)));    // NOLINT(modernize-use-using)
  typedef std::int32_t Results __attribute__((vector_size(16)));  // NOLINT(modernize-use-using)
};

int32x4_t values_of(Wide::Results results) { return reinterpret_cast<int32x4_t>(results); }

template <WinogradStep step>
void finish(const std::int32_t* sums, std::ptrdiff_t place_step, const TileNumbers& numbers,
            int channels, const WinogradResults& results) {
  WinogradTile<step, Wide> parts[4];
  for (int part = 0; part < 4; ++part) {
    parts[part].sum_up(sums + 4 * part, place_step);
  }
  for (int row = 0; row < results.rows; ++row) {
    for (int column = 0; column < results.columns; ++column) {
      const Sums made = {{values_of(parts[0].at[row][column]), values_of(parts[1].at[row][column]),
                          values_of(parts[2].at[row][column]),
                          values_of(parts[3].at[row][column])}};
      fixedpoint::finish(made, *numbers.blocks, numbers.low, numbers.high,
                         results.out + row * results.row_step + column * results.column_step,
                         channels);
    }
  }
}

template <WinogradStep step>
constexpr WinogradUnit unit_of() noexcept {
  return {.step = step,
          .gemm = &kGemm16,
          .transform = transform_tile<step, EightLanes>,
          .finish = finish<step>};
}

}  // namespace

const WinogradUnit kWinograd2 = unit_of<WinogradStep::kTwo>();
const WinogradUnit kWinograd4 = unit_of<WinogradStep::kFour>();

}  // namespace fixedpoint::neon
