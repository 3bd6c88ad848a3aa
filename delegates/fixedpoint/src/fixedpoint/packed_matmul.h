#pragma once

#include "fixedpoint/packed_conv.h"
#include "fixedpoint/transformer.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace fixedpoint {

/// Rows of activations plus 128, `stride` bytes apart; `terms` are added to the sums of each.
struct MatmulRows {
  const std::byte* values;
  std::ptrdiff_t stride;
  int count;
  const std::int32_t* terms;
  /// Groups of depths.
  std::ptrdiff_t groups;
};

/// Columns as MatmulUnit packs them; `starts` is where the sums of each begin.
struct MatmulColumns {
  const std::byte* packed;
  int count;
  const std::int32_t* starts;
};

/// How one instruction set multiplies activations.
struct MatmulUnit {
  /// Columns of one tile, and depths that lie together.
  int columns;
  int group;
  /// Packs a row in whole lines of 64 bytes; returns its sum, 128 added to each value.
  std::int32_t (*pack_row)(const std::int8_t* a, int depth, std::byte* packed);
  /// Packs tiles, one after the other, zeros where there is nothing; and their sums, whole tiles.
  void (*pack_columns)(const std::int8_t* b, int columns, int depth, std::byte* packed,
                       std::int32_t* sums);
  /// One block of numbers serves all. Writes rows of as many bytes as there are columns.
  void (*multiply)(const MatmulRows& a, const MatmulColumns& b, const TileNumbers& numbers,
                   std::int8_t* out);
};

/// Null when the product's numbers do not fit BlockNumbers, or round half to even.
std::unique_ptr<MatmulKernel> make_packed_matmul(const Matmul& matmul, const MatmulUnit& unit);

}  // namespace fixedpoint
