#include "fixedpoint/tile_layout.h"

#include "fixedpoint/operations.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace fixedpoint {
namespace {

/// Weights of four depths lie together.
constexpr int kGroup = 4;

int divide_up(int value, int by) { return (value + by - 1) / by; }

/// Bytes of a window that lie together in the image.
struct Run {
  int first_row;
  int first_column;
  int bytes;
};

std::vector<Run> runs_of(const Window& w) {
  std::vector<Run> runs;
  const bool are_rows_whole = w.dilation_width == 1;
  for (int i = 0; i < w.kernel_height; ++i) {
    for (int j = 0; j < (are_rows_whole ? 1 : w.kernel_width); ++j) {
      runs.push_back({.first_row = i * w.dilation_height,
                      .first_column = j * w.dilation_width,
                      .bytes = (are_rows_whole ? w.kernel_width : 1) * w.in_channels});
    }
  }
  return runs;
}

void choose_panel(const Window& w, std::size_t panel_bytes, TileLayout& layout) {
  const int columns =
      (w.out_width - 1) * w.stride_width + (w.kernel_width - 1) * w.dilation_width + 1;
  layout.row_positions = divide_up(columns, w.stride_width);
  layout.position_bytes = std::ptrdiff_t{w.stride_width} * w.in_channels;
  const int more_rows = (w.kernel_height - 1) * w.dilation_height / w.stride_height;
  const auto fitting =
      static_cast<std::ptrdiff_t>(panel_bytes) / (layout.row_bytes() * w.stride_height) - more_rows;
  const int most = static_cast<int>(std::clamp<std::ptrdiff_t>(fitting, 1, w.out_height));
  layout.panel_rows = divide_up(w.out_height, divide_up(w.out_height, most));
  layout.plane_rows = layout.panel_rows + more_rows;
}

}  // namespace

TileLayout make_tile_layout(const Window& w, int most_step_bytes, std::size_t panel_bytes) {
  TileLayout layout;
  choose_panel(w, panel_bytes, layout);
  const auto runs = runs_of(w);
  const int bytes = runs.front().bytes;
  const int steps = divide_up(bytes, most_step_bytes);
  layout.step_bytes = divide_up(divide_up(bytes, steps), kGroup) * kGroup;
  for (const auto& run : runs) {
    const int plane = run.first_row % w.stride_height;
    const int row = plane * layout.plane_rows + run.first_row / w.stride_height;
    const std::ptrdiff_t begin =
        row * layout.row_bytes() + std::ptrdiff_t{run.first_column} * w.in_channels;
    const int first_place = layout.depth();
    for (int step = 0; step < steps; ++step) {
      layout.offsets.push_back(begin + std::ptrdiff_t{step} * layout.step_bytes);
    }
    for (int i = 0; i < bytes; ++i) {
      layout.places.push_back(first_place + i);
    }
  }
  return layout;
}

}  // namespace fixedpoint
