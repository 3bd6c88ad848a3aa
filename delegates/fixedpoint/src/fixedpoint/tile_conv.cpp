#include "fixedpoint/tile_conv.h"

#include "fixedpoint/kernels.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/packed_conv.h"
#include "fixedpoint/packed_kernel.h"
#include "fixedpoint/packed_weights.h"
#include "fixedpoint/tile_layout.h"
#include "fixedpoint/window_walk.h"
#include "fixedpoint/workers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

namespace fixedpoint {
namespace {

/// A part of the second level's cache, which weights go through as well.
constexpr std::size_t kPanelBytes = 192 * 1024;
/// Windows that reach farther than this, by their dilation, are left to other kernels.
constexpr std::ptrdiff_t kMostPanelBytes = 16 * 1024 * 1024;
/// Panels of different threads share no cache line.
constexpr std::ptrdiff_t kLine = 64;
constexpr int kMostRows = 32;
constexpr int kMostChannels = 32;

/// Rows of windows that tiles read, and the outputs that they make.
struct Panel {
  const std::byte* windows;
  int rows;
  /// Positions of a row, and how many of them are windows.
  int row_positions;
  int row_windows;
  std::int8_t* out;

  int positions() const { return (rows - 1) * row_positions + row_windows; }
};

/// Sums of `count` positions from `start` on and one tile of channels.
struct Product {
  int tile = 0;
  int start = 0;
  int count = 0;
};

class TileConv : public PackedKernel<std::int8_t> {
 public:
  TileConv(const Conv2d& conv, const TileUnit& unit, TableFunction table, TileLayout layout,
           PackedWeights packed)
      : PackedKernel(conv, table, std::move(packed)),
        unit_(unit),
        layout_(std::move(layout)),
        is_matrix_(is_pointwise(conv.window)),
        read_bytes_(std::ranges::max(layout_.offsets) + layout_.step_bytes) {
    // Includes what the last block reads past its end.
    const std::ptrdiff_t held =
        is_matrix_ ? unit.rows * layout_.position_bytes : layout_.panel_bytes(conv.window);
    const std::ptrdiff_t read = unit.rows * layout_.position_bytes + read_bytes_;
    memory_bytes_ = (held + read + kLine - 1) / kLine * kLine;
    take_panels(1);
  }

  void run(const std::int8_t* in, std::int8_t* out) override {
    run_share(in, out, {0, count_rows()}, {0, packed_.tiles}, panels_.get());
  }

  /// By rows, or by tiles of channels where there are few rows.
  int split(int parts) override {
    take_panels(take_parts(parts));
    return parts_;
  }

  void run_part(const std::int8_t* in, std::int8_t* out, int part) override {
    Share rows{0, count_rows()};
    Share tiles{0, packed_.tiles};
    if (conv_.window.out_pixels() >= std::int64_t{2} * unit_.rows * parts_ &&
        (is_matrix_ || rows.end >= parts_)) {
      rows = share_of(rows.end, part, parts_, is_matrix_ ? unit_.rows : 1);
    } else {
      tiles = share_of(packed_.tiles, part, parts_, 1);
    }
    run_share(in, out, rows, tiles, panels_.get() + memory_bytes_ * part);
  }

 private:
  /// Counts the rows of a matrix, or of the windows of all images.
  std::int64_t count_rows() const {
    const Window& w = conv_.window;
    return is_matrix_ ? w.out_pixels() : std::int64_t{w.batch} * w.out_height;
  }

  /// Takes panels; the values beside the image stay from then on.
  void take_panels(int parts) {
    panels_ = take_memory(memory_bytes_ * parts);
    std::memset(panels_.get(), conv_.window.padding_value, memory_bytes_ * parts);
  }

  void run_share(const std::int8_t* in, std::int8_t* out, Share rows, Share tiles,
                 std::byte* memory) const {
    if (rows.first == rows.end || tiles.first == tiles.end) {
      return;
    }
    unit_.enter(layout_.step_bytes);
    if (is_matrix_) {
      multiply_matrix(in, out, rows, tiles, memory);
    } else {
      multiply_images(in, out, rows, tiles, memory);
    }
    unit_.leave();
  }

  void multiply_matrix(const std::int8_t* in, std::int8_t* out, Share rows, Share tiles,
                       std::byte* memory) const {
    const Window& w = conv_.window;
    const int depth = w.in_channels;
    const auto fitting =
        static_cast<int>(kPanelBytes / std::max(depth, w.out_channels)) / unit_.rows;
    const int panel_rows = std::max(fitting, 1) * unit_.rows;
    // The last rows are read from a copy where steps read on.
    const std::int64_t whole = w.out_pixels() - (read_bytes_ - 1) / depth;
    for (std::int64_t start = rows.first; start < rows.end; start += panel_rows) {
      const auto count = static_cast<int>(std::min<std::int64_t>(panel_rows, rows.end - start));
      const auto in_place = static_cast<int>(std::clamp<std::int64_t>(whole - start, 0, count)) /
                            unit_.rows * unit_.rows;
      const auto* values = reinterpret_cast<const std::byte*>(in) + start * depth;
      std::int8_t* place = out + start * w.out_channels;
      multiply_rows(values, in_place, tiles, place);
      std::memcpy(memory, values + std::ptrdiff_t{in_place} * depth,
                  std::size_t(count - in_place) * depth);
      multiply_rows(memory, count - in_place, tiles,
                    place + std::ptrdiff_t{in_place} * w.out_channels);
    }
  }

  void multiply_rows(const std::byte* rows, int count, Share tiles, std::int8_t* out) const {
    if (count > 0) {
      multiply({rows, 1, count, count, out}, tiles);
    }
  }

  void multiply_images(const std::int8_t* in, std::int8_t* out, Share rows, Share tiles,
                       std::byte* memory) const {
    const Window& w = conv_.window;
    const std::ptrdiff_t image_bytes = std::ptrdiff_t{w.in_height} * w.in_width * w.in_channels;
    std::int64_t row = rows.first;
    while (row < rows.end) {
      const auto top = static_cast<int>(row % w.out_height);
      const auto count = static_cast<int>(
          std::min<std::int64_t>(std::min(layout_.panel_rows, w.out_height - top), rows.end - row));
      copy_rows(in + row / w.out_height * image_bytes, top, count, memory);
      multiply({memory, count, layout_.row_positions, w.out_width,
                out + row * w.out_width * w.out_channels},
               tiles);
      row += count;
    }
  }

  /// The rows of an image that `count` rows of windows read, from the window row `top` on.
  void copy_rows(const std::int8_t* image, int top, int count, std::byte* memory) const {
    const Window& w = conv_.window;
    const std::ptrdiff_t in_row_bytes = std::ptrdiff_t{w.in_width} * w.in_channels;
    const std::ptrdiff_t left_bytes = std::ptrdiff_t{w.pad_left} * w.in_channels;
    const std::ptrdiff_t bytes =
        std::clamp<std::ptrdiff_t>(layout_.row_bytes() - left_bytes, 0, in_row_bytes);
    const int rows = (count - 1) * w.stride_height + (w.kernel_height - 1) * w.dilation_height + 1;
    for (int i = 0; i < rows; ++i) {
      const int place = i % w.stride_height * layout_.plane_rows + i / w.stride_height;
      std::byte* copied = memory + place * layout_.row_bytes() + left_bytes;
      const int y = top * w.stride_height - w.pad_top + i;
      if (y >= 0 && y < w.in_height) {
        std::memcpy(copied, image + y * in_row_bytes, bytes);
      } else {
        std::memset(copied, w.padding_value, bytes);
      }
    }
  }

  /// While tiles multiply, what they made before is requantized.
  void multiply(const Panel& panel, Share tiles) const {
    const TileSteps steps = {layout_.offsets.data(), static_cast<int>(layout_.offsets.size()),
                             layout_.step_bytes};
    alignas(kLine) std::int32_t sums[kMostRows * kMostChannels];
    Product before;
    for (auto tile = static_cast<int>(tiles.first); tile < tiles.end; ++tile) {
      const TileWeights weights = {packed_.tile_weights(tile), tile_channels(tile)};
      for (int start = 0; start < panel.positions(); start += unit_.rows) {
        const TileRows rows = {panel.windows + start * layout_.position_bytes,
                               layout_.position_bytes,
                               std::min(unit_.rows, panel.positions() - start)};
        unit_.multiply(rows, steps, weights);
        finish(panel, before, sums);
        unit_.store(rows.count, weights.channels, sums);
        before = {tile, start, rows.count};
      }
    }
    finish(panel, before, sums);
    const auto first = static_cast<int>(tiles.first) * unit_.packing.channels;
    const int end = static_cast<int>(tiles.end) * unit_.packing.channels;
    look_up_channels(std::int64_t{panel.rows} * panel.row_windows, first,
                     std::min(end, conv_.window.out_channels), panel.out);
  }

  int tile_channels(int tile) const {
    const int channels = unit_.packing.channels;
    return std::min(channels, conv_.window.out_channels - tile * channels);
  }

  /// The windows among the product's positions.
  void finish(const Panel& panel, const Product& product, const std::int32_t* sums) const {
    const int channels = conv_.window.out_channels;
    std::int8_t* out = panel.out + std::ptrdiff_t{product.tile} * unit_.packing.channels;
    int row = product.start / panel.row_positions;
    int column = product.start % panel.row_positions;
    for (int done = 0; done < product.count; ++row, column = 0) {
      const int windows = std::min(panel.row_windows - column, product.count - done);
      if (windows > 0) {
        const std::int64_t place = std::int64_t{row} * panel.row_windows + column;
        unit_.finish(sums + done * unit_.packing.channels, windows, numbers(product.tile),
                     out + place * channels, channels, tile_channels(product.tile));
      }
      done += panel.row_positions - column;
    }
  }

  const TileUnit& unit_;
  TileLayout layout_;
  bool is_matrix_;
  /// From a window's first byte to the end of its last step.
  std::ptrdiff_t read_bytes_;
  std::ptrdiff_t memory_bytes_ = 0;
  /// One for each part: a panel, or the last rows of a matrix.
  Memory panels_;
};

}  // namespace

std::unique_ptr<ConvKernel> make_tile_conv(const Conv2d& given, const TileUnit& unit,
                                           TableFunction table) {
  if (given.window.groups > 1) {
    return nullptr;
  }
  // A stride that nothing moves by would take memory.
  Conv2d conv = given;
  conv.window.stride_height = given.window.out_height > 1 ? given.window.stride_height : 1;
  conv.window.stride_width = given.window.out_width > 1 ? given.window.stride_width : 1;
  auto layout = make_tile_layout(conv.window, unit.step_bytes, kPanelBytes);
  if (!is_pointwise(conv.window) && layout.panel_bytes(conv.window) > kMostPanelBytes) {
    return nullptr;
  }
  auto packed = pack_weights(conv, unit.packing, layout.places, layout.depth());
  if (!packed.fits) {
    return nullptr;
  }
  return std::make_unique<TileConv>(conv, unit, table, std::move(layout), std::move(packed));
}

}  // namespace fixedpoint
