#pragma once

#include "fixedpoint/operations.h"

#include <cstddef>
#include <vector>

namespace fixedpoint {

/// How matrix tiles read windows out of a padded image, without a copy of each window.
///
/// Rows of the image lie in planes by their remainder of the vertical stride. Windows then begin at
/// equal distances, from the last of one row to the first of the next as well, with positions
/// between them that belong to no window. The depth of a window is read in steps of equal bytes;
/// weights are zero where a step reads on.
struct TileLayout {
  int step_bytes = 0;
  /// Where each step begins, from a window's first byte.
  std::vector<std::ptrdiff_t> offsets;
  /// Where each place of a channel's weights lies among those that steps read.
  std::vector<int> places;
  /// From one position to the next, in bytes.
  std::ptrdiff_t position_bytes = 0;
  /// Positions in a row, those between windows included.
  int row_positions = 0;
  /// Rows of windows that a panel holds, and rows of the image in each of its planes.
  int panel_rows = 0;
  int plane_rows = 0;

  int depth() const { return static_cast<int>(offsets.size()) * step_bytes; }
  std::ptrdiff_t row_bytes() const { return position_bytes * row_positions; }
  std::ptrdiff_t panel_bytes(const Window& window) const {
    return row_bytes() * plane_rows * window.stride_height;
  }
};

/// As many rows of windows in a panel as `panel_bytes` hold, and one at least; `most_step_bytes` is
/// a multiple of four.
TileLayout make_tile_layout(const Window& window, int most_step_bytes, std::size_t panel_bytes);

}  // namespace fixedpoint
