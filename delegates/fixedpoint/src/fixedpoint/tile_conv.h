#pragma once

#include "fixedpoint/kernels.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/packed_conv.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace fixedpoint {

/// How one instruction set multiplies matrices by tiles that are state of a thread.
struct TileUnit {
  Packing packing;
  /// Rows and bytes of depth that are multiplied together.
  int rows;
  int step_bytes;
  /// Around what a thread multiplies: makes its tiles ready for steps of that many bytes.
  void (*enter)(int step_bytes);
  void (*leave)();
  /// The sums of `rows` rows of `a`, which are `a_stride` bytes apart, as a matrix of `rows` x
  /// `packing.channels` of the unit, aligned to 64; `offsets` tell where steps begin. All rows of
  /// the unit may be read, whatever they hold.
  void (*multiply)(const std::byte* a, std::ptrdiff_t a_stride, int rows,
                   const std::ptrdiff_t* offsets, int steps, int step_bytes, const std::byte* b,
                   int channels, std::int32_t* sums);
  /// Requantizes rows of such a matrix; writes `channels` bytes of each.
  void (*finish)(const std::int32_t* sums, int rows, const TileNumbers& numbers, std::int8_t* out,
                 std::ptrdiff_t out_stride, int channels);
};

/// A convolution of one group by tiles; null for other groups, or when its numbers do not fit
/// BlockNumbers.
std::unique_ptr<ConvKernel> make_tile_conv(const Conv2d& conv, const TileUnit& unit,
                                           TableFunction table);

}  // namespace fixedpoint
