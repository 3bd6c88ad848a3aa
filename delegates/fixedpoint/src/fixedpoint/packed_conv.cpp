#include "fixedpoint/packed_conv.h"

#include "fixedpoint/kernels.h"
#include "fixedpoint/operations.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

namespace fixedpoint {
namespace {

constexpr std::size_t kPanelBytes = 48 * 1024;
constexpr int kMostPanelRows = 96;

struct Free {
  void operator()(std::byte* memory) const { ::operator delete(memory, std::align_val_t{64}); }
};
using Memory = std::unique_ptr<std::byte, Free>;

/// Zeros, aligned for vector units.
Memory take_memory(std::size_t bytes) {
  auto* memory = static_cast<std::byte*>(::operator new(bytes, std::align_val_t{64}));
  std::memset(memory, 0, bytes);
  return Memory(memory);
}

int divide_up(int value, int by) { return (value + by - 1) / by; }

struct ChannelSums {
  std::int64_t plain = 0;
  std::int64_t magnitude = 0;
};

ChannelSums sum_weights(const Conv2d& conv, int channel) {
  ChannelSums sums;
  const int depth = conv.window.depth();
  for (int i = 0; i < depth; ++i) {
    const int weight = conv.weights[std::int64_t{channel} * depth + i];
    sums.plain += weight;
    sums.magnitude += std::abs(weight);
  }
  return sums;
}

/// Writes a channel's numbers; false when they do not fit.
bool write_numbers(const Conv2d& conv, int channel, int offset, BlockNumbers& block, int place) {
  const auto sums = sum_weights(conv, channel);
  const int shift = conv.shifts[channel];
  const int left = std::max(0, 32 - shift);
  if (left > 0 && ((128 * sums.magnitude) >> (31 - left) != 0 ||
                   std::llabs(conv.biases[channel]) >> (62 - left) != 0)) {
    return false;
  }
  block.start[place] = static_cast<std::int32_t>(-offset * sums.plain);
  block.left[place] = left;
  block.right[place] = shift + left - 32;
  block.multiplier[place] = conv.multipliers[channel];
  if (place % 2 == 1) {
    block.odd_multiplier[place - 1] = conv.multipliers[channel];
  }
  const std::int64_t bias = conv.biases[channel] * (std::int64_t{1} << left);
  auto& biases = place % 2 == 0 ? block.even_bias : block.odd_bias;
  biases[place / 2] = bias;
  return true;
}

/// Weights and numbers of all channels, tile by tile.
struct Packed {
  Memory weights;
  Memory numbers;
  int groups = 0;
  int tiles = 0;
  std::size_t tile_weight_bytes = 0;
  int tile_blocks = 0;

  const BlockNumbers* blocks(int tile) const {
    return reinterpret_cast<const BlockNumbers*>(numbers.get()) + tile * tile_blocks;
  }
  const std::byte* tile_weights(int tile) const { return weights.get() + tile * tile_weight_bytes; }
};

void write_weight(const Packing& packing, std::byte* tile, int position, int depth,
                  std::int8_t weight) {
  const std::size_t index =
      (std::size_t(depth / packing.group) * packing.channels + position) * packing.group +
      depth % packing.group;
  if (packing.weight_bytes == 1) {
    reinterpret_cast<std::int8_t*>(tile)[index] = weight;
  } else {
    reinterpret_cast<std::int16_t*>(tile)[index] = weight;
  }
}

std::optional<Packed> pack(const Conv2d& conv, const Packing& packing) {
  const int channels = conv.window.out_channels;
  const int depth = conv.window.depth();
  Packed packed{.groups = divide_up(depth, packing.group),
                .tiles = divide_up(channels, packing.channels),
                .tile_blocks = packing.channels / kBlock};
  packed.tile_weight_bytes =
      std::size_t(packed.groups) * packing.group * packing.channels * packing.weight_bytes;
  packed.weights = take_memory(packed.tiles * packed.tile_weight_bytes);
  packed.numbers = take_memory(sizeof(BlockNumbers) * packed.tiles * packed.tile_blocks);
  auto* blocks = reinterpret_cast<BlockNumbers*>(packed.numbers.get());
  for (int place = 0; place < packed.tiles * packing.channels; ++place) {
    const int tile = place / packing.channels;
    const int position = place % packing.channels;
    const int channel = tile * packing.channels + packing.channel_of(position);
    if (channel >= channels) {
      continue;
    }
    if (!write_numbers(conv, channel, packing.activation_offset, blocks[place / kBlock],
                       place % kBlock)) {
      return std::nullopt;
    }
    auto* weights = packed.weights.get() + tile * packed.tile_weight_bytes;
    for (int i = 0; i < depth; ++i) {
      write_weight(packing, weights, position, i, conv.weights[std::int64_t{channel} * depth + i]);
    }
  }
  return packed;
}

/// Walks over output pixels in their order.
class Pixel {
 public:
  explicit Pixel(const Window& window) : w_(window) {}

  void next() {
    if (++column_ == w_.out_width) {
      column_ = 0;
      if (++row_ == w_.out_height) {
        row_ = 0;
        ++image_;
      }
    }
  }
  int top() const { return row_ * w_.stride_height - w_.pad_top; }
  int left() const { return column_ * w_.stride_width - w_.pad_left; }
  bool is_row_inside(int y) const { return y >= 0 && y < w_.in_height; }
  bool is_column_inside(int x) const { return x >= 0 && x < w_.in_width; }
  /// Whether no tap of the window lies outside of the input.
  bool is_interior() const {
    return top() >= 0 && top() + (w_.kernel_height - 1) * w_.dilation_height < w_.in_height &&
           is_interior_in_width();
  }
  bool is_interior_in_width() const {
    return left() >= 0 && left() + (w_.kernel_width - 1) * w_.dilation_width < w_.in_width;
  }
  std::int64_t offset(int y, int x) const {
    return ((std::int64_t{image_} * w_.in_height + y) * w_.in_width + x) * w_.in_channels;
  }

 private:
  const Window& w_;
  int image_ = 0;
  int row_ = 0;
  int column_ = 0;
};

bool is_pointwise(const Window& w) {
  return w.taps() == 1 && w.stride_height == 1 && w.stride_width == 1 && w.pad_top == 0 &&
         w.pad_left == 0 && w.in_height == w.out_height && w.in_width == w.out_width;
}

class GemmConv : public ConvKernel {
 public:
  GemmConv(const Conv2d& conv, const GemmUnit& unit, TableFunction table, Packed packed)
      : conv_(conv),
        unit_(unit),
        table_(table),
        packed_(std::move(packed)),
        row_bytes_(std::ptrdiff_t{packed_.groups} * unit.packing.group * unit.element_bytes),
        padding_(conv.window.in_channels, static_cast<std::int8_t>(conv.window.padding_value)) {
    const auto fitting =
        static_cast<int>(std::min<std::size_t>(kPanelBytes / row_bytes_, kMostPanelRows));
    panel_rows_ = std::max(fitting / unit.rows, 1) * unit.rows;
    panel_ = take_memory(row_bytes_ * panel_rows_);
  }

  void run(const std::int8_t* in, std::int8_t* out) override {
    const Window& w = conv_.window;
    Pixel pixel(w);
    const std::int64_t pixels = w.out_pixels();
    for (std::int64_t start = 0; start < pixels; start += panel_rows_) {
      const int rows = static_cast<int>(std::min<std::int64_t>(panel_rows_, pixels - start));
      if (is_pointwise(w)) {
        pack_pointwise(in + start * w.in_channels, rows);
      } else {
        pack_windows(in, rows, pixel);
      }
      std::int8_t* panel_out = out + start * w.out_channels;
      multiply(rows, panel_out);
      if (conv_.table != nullptr) {
        table_(conv_.table, std::int64_t{rows} * w.out_channels, panel_out, panel_out);
      }
    }
  }

 private:
  void pack_pointwise(const std::int8_t* in, int rows) {
    const int channels = conv_.window.in_channels;
    if (row_bytes_ == std::ptrdiff_t{channels} * unit_.element_bytes) {
      unit_.pack(in, rows * channels, panel_.get());
      return;
    }
    for (int row = 0; row < rows; ++row) {
      unit_.pack(in + std::int64_t{row} * channels, channels, panel_.get() + row * row_bytes_);
    }
  }

  void pack_windows(const std::int8_t* in, int rows, Pixel& pixel) {
    for (int row = 0; row < rows; ++row, pixel.next()) {
      pack_window(in, pixel, panel_.get() + row * row_bytes_);
    }
  }

  /// One row of the matrix: the taps of a window, one after the other.
  void pack_window(const std::int8_t* in, const Pixel& pixel, std::byte* packed) {
    const Window& w = conv_.window;
    const std::ptrdiff_t tap_bytes = std::ptrdiff_t{w.in_channels} * unit_.element_bytes;
    for (int i = 0; i < w.kernel_height; ++i) {
      const int y = pixel.top() + i * w.dilation_height;
      if (pixel.is_row_inside(y) && w.dilation_width == 1 && pixel.is_interior_in_width()) {
        unit_.pack(in + pixel.offset(y, pixel.left()), w.kernel_width * w.in_channels, packed);
        packed += tap_bytes * w.kernel_width;
        continue;
      }
      for (int j = 0; j < w.kernel_width; ++j, packed += tap_bytes) {
        const int x = pixel.left() + j * w.dilation_width;
        const bool is_inside = pixel.is_row_inside(y) && pixel.is_column_inside(x);
        unit_.pack(is_inside ? in + pixel.offset(y, x) : padding_.data(), w.in_channels, packed);
      }
    }
  }

  void multiply(int rows, std::int8_t* out) {
    const int channels = conv_.window.out_channels;
    for (int tile = 0; tile < packed_.tiles; ++tile) {
      const TileNumbers numbers{packed_.blocks(tile), conv_.low, conv_.high};
      const int first = tile * unit_.packing.channels;
      const int count = std::min(unit_.packing.channels, channels - first);
      for (int row = 0; row < rows; row += unit_.rows) {
        unit_.multiply(panel_.get() + row * row_bytes_, row_bytes_,
                       std::min(unit_.rows, rows - row), packed_.tile_weights(tile), packed_.groups,
                       numbers, out + std::int64_t{row} * channels + first, channels, count);
      }
    }
  }

  Conv2d conv_;
  const GemmUnit& unit_;
  TableFunction table_;
  Packed packed_;
  std::ptrdiff_t row_bytes_;
  std::vector<std::int8_t> padding_;
  int panel_rows_ = 0;
  Memory panel_;
};

class DepthwiseConv : public ConvKernel {
 public:
  DepthwiseConv(const Conv2d& conv, const DepthwiseUnit& unit, TableFunction table, Packed packed)
      : conv_(conv),
        unit_(unit),
        table_(table),
        packed_(std::move(packed)),
        padding_(conv.window.in_channels, static_cast<std::int8_t>(conv.window.padding_value)),
        taps_(std::size_t(packed_.groups) * unit.packing.group, padding_.data()) {
    const Window& w = conv_.window;
    for (int i = 0; i < w.kernel_height; ++i) {
      for (int j = 0; j < w.kernel_width; ++j) {
        offsets_.push_back((std::int64_t{i} * w.dilation_height * w.in_width +
                            std::int64_t{j} * w.dilation_width) *
                           w.in_channels);
      }
    }
  }

  void run(const std::int8_t* in, std::int8_t* out) override {
    const Window& w = conv_.window;
    const TileNumbers numbers{packed_.blocks(0), conv_.low, conv_.high};
    Pixel pixel(w);
    const std::int64_t pixels = w.out_pixels();
    for (std::int64_t i = 0; i < pixels; ++i, pixel.next()) {
      find_taps(in, pixel);
      unit_.convolve(taps_.data(), packed_.groups, packed_.tile_weights(0), numbers, w.out_channels,
                     out + i * w.out_channels);
    }
    if (conv_.table != nullptr) {
      table_(conv_.table, pixels * w.out_channels, out, out);
    }
  }

 private:
  void find_taps(const std::int8_t* in, const Pixel& pixel) {
    const Window& w = conv_.window;
    if (pixel.is_interior()) {
      const std::int8_t* base = in + pixel.offset(pixel.top(), pixel.left());
      for (std::size_t tap = 0; tap < offsets_.size(); ++tap) {
        taps_[tap] = base + offsets_[tap];
      }
      return;
    }
    std::size_t tap = 0;
    for (int i = 0; i < w.kernel_height; ++i) {
      const int y = pixel.top() + i * w.dilation_height;
      for (int j = 0; j < w.kernel_width; ++j) {
        const int x = pixel.left() + j * w.dilation_width;
        const bool is_inside = pixel.is_row_inside(y) && pixel.is_column_inside(x);
        taps_[tap++] = is_inside ? in + pixel.offset(y, x) : padding_.data();
      }
    }
  }

  Conv2d conv_;
  const DepthwiseUnit& unit_;
  TableFunction table_;
  Packed packed_;
  std::vector<std::int8_t> padding_;
  /// Those past the last tap stay on the padding; their weights are zero.
  std::vector<const std::int8_t*> taps_;
  std::vector<std::int64_t> offsets_;
};

}  // namespace

std::unique_ptr<ConvKernel> make_packed_conv(const Conv2d& conv, const GemmUnit& gemm,
                                             const DepthwiseUnit& depthwise, TableFunction table) {
  const Window& w = conv.window;
  const bool is_depthwise = w.groups > 1 && w.in_group() == 1 && w.out_group() == 1;
  if (w.groups > 1 && !is_depthwise) {
    return nullptr;
  }
  auto packed = pack(conv, is_depthwise ? depthwise.packing : gemm.packing);
  if (!packed) {
    return nullptr;
  }
  if (is_depthwise) {
    return std::make_unique<DepthwiseConv>(conv, depthwise, table, std::move(*packed));
  }
  return std::make_unique<GemmConv>(conv, gemm, table, std::move(*packed));
}

std::unique_ptr<ConvKernel> packed_or_scalar(const Conv2d& conv, const GemmUnit& gemm,
                                             const DepthwiseUnit& depthwise, TableFunction table) {
  auto packed = make_packed_conv(conv, gemm, depthwise, table);
  return packed != nullptr ? std::move(packed) : scalar_kernels().make_conv2d(conv);
}

}  // namespace fixedpoint
