#include "fixedpoint/conv_kernels.h"
#include "fixedpoint/kernels.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/packed_conv.h"
#include "fixedpoint/packed_kernel.h"
#include "fixedpoint/packed_weights.h"
#include "fixedpoint/window_lines.h"
#include "fixedpoint/window_walk.h"
#include "fixedpoint/workers.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace fixedpoint {
namespace {

/// Rows that are multiplied by all weights before the next: those that stay near, while weights do,
/// and more of them where weights come from farther away for each panel.
constexpr std::size_t kPanelBytes = 48 * 1024;
constexpr std::size_t kLargePanelBytes = 512 * 1024;
constexpr std::size_t kMostNearWeightBytes = 1024 * 1024;
/// Panels of different threads share no cache line.
constexpr std::ptrdiff_t kLine = 64;
constexpr int kMostPanelRows = 96;

template <class T>
class GemmConv : public PackedKernel<T> {
  using Base = PackedKernel<T>;
  using Base::conv_;
  using Base::packed_;
  using Base::padded_;
  using Base::parts_;

 public:
  GemmConv(const Conv2d& conv, const TypedGemmUnit<T>& unit, TableFunction table,
           PackedWeights packed)
      : Base(conv, table, std::move(packed)),
        unit_(unit),
        lines_(conv_.window, unit),
        row_bytes_(std::ptrdiff_t{packed_.groups} * unit.packing.group * unit.element_bytes) {
    const bool is_near = packed_.tiles * packed_.tile_weight_bytes <= kMostNearWeightBytes;
    const std::size_t most = is_near ? kPanelBytes : kLargePanelBytes;
    const auto fitting = static_cast<int>(std::min<std::size_t>(most / row_bytes_, kMostPanelRows));
    panel_rows_ = std::max(fitting / unit.rows, 1) * unit.rows;
    panel_bytes_ = whole_lines(row_bytes_ * panel_rows_ + WindowLines<T>::kSlack);
    part_bytes_ = panel_bytes_ + whole_lines(lines_.bytes());
    this->scratch_->reserve(part_bytes_);
  }

  void run(const T* in, T* out) override {
    run_share(in, out, {0, conv_.window.out_pixels()}, {0, packed_.tiles}, this->scratch_->data());
  }

  /// By rows of the matrix, or by tiles of channels where there are few rows.
  int split(int parts) override {
    this->scratch_->reserve(part_bytes_ * this->take_parts(parts));
    return parts_;
  }

  void run_part(const T* in, T* out, int part) override {
    const std::int64_t pixels = conv_.window.out_pixels();
    Share rows{0, pixels};
    Share tiles{0, packed_.tiles};
    if (pixels >= std::int64_t{2} * unit_.rows * parts_) {
      rows = share_of(pixels, part, parts_, unit_.rows);
    } else {
      tiles = share_of(packed_.tiles, part, parts_, 1);
    }
    run_share(in, out, rows, tiles, this->scratch_->data() + part_bytes_ * part);
  }

 private:
  static std::ptrdiff_t whole_lines(std::ptrdiff_t bytes) {
    return (bytes + kLine - 1) / kLine * kLine;
  }

  void run_share(const T* in, T* out, Share pixels, Share tiles, std::byte* panel) const {
    const Window& w = conv_.window;
    Pixel pixel(w, pixels.first);
    typename WindowLines<T>::Ring ring(lines_, in, panel + panel_bytes_);
    for (std::int64_t start = pixels.first; start < pixels.end && tiles.first < tiles.end;
         start += panel_rows_) {
      const int rows = static_cast<int>(std::min<std::int64_t>(panel_rows_, pixels.end - start));
      if (is_pointwise(w)) {
        pack_pointwise(in + start * w.in_channels, rows, panel);
      } else if (lines_.suits()) {
        ring.pack(rows, pixel, panel, row_bytes_);
      } else {
        pack_windows(in, rows, pixel, panel);
      }
      T* panel_out = out + start * w.out_channels;
      multiply(panel, rows, tiles, panel_out);
      look_up_tiles(rows, tiles, panel_out);
    }
  }

  void pack_pointwise(const T* in, int rows, std::byte* panel) const {
    const int channels = conv_.window.in_channels;
    if (row_bytes_ == std::ptrdiff_t{channels} * unit_.element_bytes) {
      unit_.pack(in, rows * channels, panel);
      return;
    }
    for (int row = 0; row < rows; ++row) {
      unit_.pack(in + std::int64_t{row} * channels, channels, panel + row * row_bytes_);
    }
  }

  void pack_windows(const T* in, int rows, Pixel& pixel, std::byte* panel) const {
    for (int row = 0; row < rows; ++row, pixel.next()) {
      pack_window(in, pixel, panel + row * row_bytes_);
    }
  }

  /// One row of the matrix: the taps of a window, one after the other.
  void pack_window(const T* in, const Pixel& pixel, std::byte* packed) const {
    const Window& w = conv_.window;
    const std::ptrdiff_t tap_bytes = std::ptrdiff_t{w.in_channels} * unit_.element_bytes;
    const std::ptrdiff_t row_step = std::ptrdiff_t{w.dilation_height} * w.in_width * w.in_channels;
    const bool are_rows_whole = w.dilation_width == 1 && pixel.is_interior_in_width();
    std::ptrdiff_t place = pixel.offset(pixel.top(), pixel.left());
    for (int i = 0; i < w.kernel_height; ++i, place += row_step) {
      const int y = pixel.top() + i * w.dilation_height;
      if (are_rows_whole && pixel.is_row_inside(y)) {
        unit_.pack(in + place, w.kernel_width * w.in_channels, packed);
        packed += tap_bytes * w.kernel_width;
        continue;
      }
      for (int j = 0; j < w.kernel_width; ++j, packed += tap_bytes) {
        const int x = pixel.left() + j * w.dilation_width;
        unit_.pack(padded_.at(in, pixel, y, x), w.in_channels, packed);
      }
    }
  }

  void multiply(const std::byte* panel, int rows, Share tiles, T* out) const {
    const int channels = conv_.window.out_channels;
    for (auto tile = static_cast<int>(tiles.first); tile < tiles.end; ++tile) {
      const int first = tile * unit_.packing.channels;
      const int count = std::min(unit_.packing.channels, channels - first);
      int row = 0;
      int some = 0;
      for (int left = divide_up(rows, unit_.rows); left > 0; --left, row += some) {
        const std::byte* a = panel + row * row_bytes_;
        T* place = out + std::int64_t{row} * channels + first;
        some = divide_up(rows - row, left);  // Few rows take as long as some more.
        if (packed_.fits) {
          unit_.multiply(a, row_bytes_, some, packed_.tile_weights(tile), packed_.groups,
                         this->numbers(tile), place, channels, count);
        } else {
          multiply_deep(a, some, tile, count, place);
        }
      }
    }
  }

  /// One tile whose sums or numbers need more than 32 bits: by parts of the depth.
  void multiply_deep(const std::byte* a, int rows, int tile, int count, T* out) const {
    if constexpr (std::is_same_v<T, std::int16_t>) {
      const auto [channels, group, weight_bytes, offset, channel_of, tap_of] = unit_.packing;
      std::array<std::int32_t, kMostTileSums> sums;
      std::array<std::int64_t, kMostTileSums> totals = {};
      const int most_groups = kMostDepth16 / group;
      for (int first = 0; first < packed_.groups; first += most_groups) {
        const std::byte* weights =
            packed_.tile_weights(tile) + std::ptrdiff_t{first} * group * channels * weight_bytes;
        unit_.sum_up(a + std::ptrdiff_t{first} * group * unit_.element_bytes, row_bytes_, rows,
                     weights, std::min(most_groups, packed_.groups - first), sums.data());
        for (int i = 0; i < rows * channels; ++i) {
          totals[i] += sums[i];
        }
      }
      for (int row = 0; row < rows; ++row, out += conv_.window.out_channels) {
        for (int i = 0; i < count; ++i) {
          out[i] =
              requantize_wide(numbers_of(conv_, tile * channels + i), totals[row * channels + i]);
        }
      }
    }
  }

  /// The table, on the channels of these tiles.
  void look_up_tiles(int rows, Share tiles, T* out) const {
    const auto first = static_cast<int>(tiles.first) * unit_.packing.channels;
    const int end = static_cast<int>(tiles.end) * unit_.packing.channels;
    this->look_up_channels(rows, first, std::min(end, conv_.window.out_channels), out);
  }

  const TypedGemmUnit<T>& unit_;
  WindowLines<T> lines_;
  std::ptrdiff_t row_bytes_;
  int panel_rows_ = 0;
  std::ptrdiff_t panel_bytes_ = 0;
  /// Each part has a panel, and lines where windows need them.
  std::ptrdiff_t part_bytes_ = 0;
};

}  // namespace

template <class T>
std::unique_ptr<TypedConvKernel<T>> make_gemm_conv(const Conv2d& conv, const TypedGemmUnit<T>& unit,
                                                   TableFunction table, PackedWeights packed) {
  return std::make_unique<GemmConv<T>>(conv, unit, table, std::move(packed));
}

template std::unique_ptr<TypedConvKernel<std::int8_t>> make_gemm_conv(
    const Conv2d&, const TypedGemmUnit<std::int8_t>&, TableFunction, PackedWeights);
template std::unique_ptr<TypedConvKernel<std::int16_t>> make_gemm_conv(
    const Conv2d&, const TypedGemmUnit<std::int16_t>&, TableFunction, PackedWeights);

}  // namespace fixedpoint
