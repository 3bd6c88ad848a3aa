#pragma once

#include "fixedpoint/kernels.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/packed_conv.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace fixedpoint {

/// Rows of activations, `stride` bytes apart. All rows of a unit may be read, whatever they hold.
struct TileRows {
  const std::byte* data;
  std::ptrdiff_t stride;
  int count;
};

/// The depth: where each step begins in a row, and how many bytes of it are multiplied.
struct TileSteps {
  const std::ptrdiff_t* offsets;
  int count;
  int bytes;
};

/// The weights of some channels.
struct TileWeights {
  const std::byte* data;
  int channels;
};

/// How one instruction set multiplies matrices by tiles that are state of a thread.
struct TileUnit {
  Packing packing;
  /// Rows and bytes of depth that are multiplied together.
  int rows;
  int step_bytes;
  /// Around what a thread multiplies: makes its tiles ready for steps of that many bytes.
  void (*enter)(int step_bytes);
  void (*leave)();
  /// Leaves the sums in tiles.
  void (*multiply)(const TileRows& a, const TileSteps& steps, const TileWeights& b);
  /// Writes those of `rows` and `channels` to a matrix of the unit's size, aligned to 64.
  void (*store)(int rows, int channels, std::int32_t* sums);
  /// Requantizes rows of such a matrix; writes `channels` bytes of each.
  void (*finish)(const std::int32_t* sums, int rows, const TileNumbers& numbers, std::int8_t* out,
                 std::ptrdiff_t out_stride, int channels);
};

/// A convolution of one group by tiles; null for other groups, when its numbers do not fit
/// BlockNumbers, or when a row of windows reads many megabytes.
std::unique_ptr<ConvKernel> make_tile_conv(const Conv2d& conv, const TileUnit& unit,
                                           TableFunction table);

}  // namespace fixedpoint
