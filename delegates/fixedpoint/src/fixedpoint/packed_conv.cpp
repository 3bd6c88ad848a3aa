#include "fixedpoint/packed_conv.h"

#include "fixedpoint/kernels.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/workers.h"

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
/// Panels of different threads share no cache line.
constexpr std::ptrdiff_t kLine = 64;
constexpr int kMostPanelRows = 96;
/// Less work than this takes no longer than to wake another thread.
constexpr double kLeastSharedMacs = 2e5;

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
  const auto place_of = [&](int i) { return packing.tap_of != nullptr ? packing.tap_of(i) : i; };
  int places = depth;
  for (int i = 0; i < depth; ++i) {
    places = std::max(places, place_of(i) + 1);
  }
  Packed packed{.groups = divide_up(places, packing.group),
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
      write_weight(packing, weights, position, place_of(i),
                   conv.weights[std::int64_t{channel} * depth + i]);
    }
  }
  return packed;
}

bool is_worth_sharing(const Window& w) {
  return static_cast<double>(w.out_pixels()) * w.out_channels * w.depth() >= kLeastSharedMacs;
}

/// Walks over output pixels in their order.
class Pixel {
 public:
  explicit Pixel(const Window& window, std::int64_t first = 0)
      : w_(window),
        image_(static_cast<int>(first / (std::int64_t{w_.out_height} * w_.out_width))),
        row_(static_cast<int>(first / w_.out_width % w_.out_height)),
        column_(static_cast<int>(first % w_.out_width)) {}

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
  int image_;
  int row_;
  int column_;
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
    panel_bytes_ = (row_bytes_ * panel_rows_ + kLine - 1) / kLine * kLine;
    panels_ = take_memory(panel_bytes_);
  }

  void run(const std::int8_t* in, std::int8_t* out) override {
    run_share(in, out, {0, conv_.window.out_pixels()}, {0, packed_.tiles}, panels_.get());
  }

  /// By rows of the matrix, or by tiles of channels where there are few rows.
  int split(int parts) override {
    if (!is_worth_sharing(conv_.window)) {
      return 1;
    }
    parts_ = parts;
    panels_ = take_memory(panel_bytes_ * parts);
    return parts;
  }

  void run_part(const std::int8_t* in, std::int8_t* out, int part) override {
    const std::int64_t pixels = conv_.window.out_pixels();
    Share rows{0, pixels};
    Share tiles{0, packed_.tiles};
    if (pixels >= std::int64_t{2} * unit_.rows * parts_) {
      rows = share_of(pixels, part, parts_, unit_.rows);
    } else {
      tiles = share_of(packed_.tiles, part, parts_, 1);
    }
    run_share(in, out, rows, tiles, panels_.get() + panel_bytes_ * part);
  }

 private:
  void run_share(const std::int8_t* in, std::int8_t* out, Share pixels, Share tiles,
                 std::byte* panel) const {
    const Window& w = conv_.window;
    Pixel pixel(w, pixels.first);
    for (std::int64_t start = pixels.first; start < pixels.end && tiles.first < tiles.end;
         start += panel_rows_) {
      const int rows = static_cast<int>(std::min<std::int64_t>(panel_rows_, pixels.end - start));
      if (is_pointwise(w)) {
        pack_pointwise(in + start * w.in_channels, rows, panel);
      } else {
        pack_windows(in, rows, pixel, panel);
      }
      std::int8_t* panel_out = out + start * w.out_channels;
      multiply(panel, rows, tiles, panel_out);
      look_up(rows, tiles, panel_out);
    }
  }

  void pack_pointwise(const std::int8_t* in, int rows, std::byte* panel) const {
    const int channels = conv_.window.in_channels;
    if (row_bytes_ == std::ptrdiff_t{channels} * unit_.element_bytes) {
      unit_.pack(in, rows * channels, panel);
      return;
    }
    for (int row = 0; row < rows; ++row) {
      unit_.pack(in + std::int64_t{row} * channels, channels, panel + row * row_bytes_);
    }
  }

  void pack_windows(const std::int8_t* in, int rows, Pixel& pixel, std::byte* panel) const {
    for (int row = 0; row < rows; ++row, pixel.next()) {
      pack_window(in, pixel, panel + row * row_bytes_);
    }
  }

  /// One row of the matrix: the taps of a window, one after the other.
  void pack_window(const std::int8_t* in, const Pixel& pixel, std::byte* packed) const {
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

  void multiply(const std::byte* panel, int rows, Share tiles, std::int8_t* out) const {
    const int channels = conv_.window.out_channels;
    for (auto tile = static_cast<int>(tiles.first); tile < tiles.end; ++tile) {
      const TileNumbers numbers{packed_.blocks(tile), conv_.low, conv_.high};
      const int first = tile * unit_.packing.channels;
      const int count = std::min(unit_.packing.channels, channels - first);
      for (int row = 0; row < rows; row += unit_.rows) {
        unit_.multiply(panel + row * row_bytes_, row_bytes_, std::min(unit_.rows, rows - row),
                       packed_.tile_weights(tile), packed_.groups, numbers,
                       out + std::int64_t{row} * channels + first, channels, count);
      }
    }
  }

  /// The table, on the channels of these tiles.
  void look_up(int rows, Share tiles, std::int8_t* out) const {
    const int channels = conv_.window.out_channels;
    const auto first = static_cast<int>(tiles.first) * unit_.packing.channels;
    const int end = std::min(static_cast<int>(tiles.end) * unit_.packing.channels, channels);
    if (conv_.table == nullptr) {
      return;
    }
    if (end - first == channels) {
      table_(conv_.table, std::int64_t{rows} * channels, out, out);
      return;
    }
    for (int row = 0; row < rows; ++row) {
      std::int8_t* place = out + std::int64_t{row} * channels + first;
      table_(conv_.table, end - first, place, place);
    }
  }

  Conv2d conv_;
  const GemmUnit& unit_;
  TableFunction table_;
  Packed packed_;
  std::ptrdiff_t row_bytes_;
  std::vector<std::int8_t> padding_;
  int panel_rows_ = 0;
  int parts_ = 1;
  std::ptrdiff_t panel_bytes_ = 0;
  /// One for each part.
  Memory panels_;
};

class DepthwiseConv : public ConvKernel {
 public:
  DepthwiseConv(const Conv2d& conv, const DepthwiseUnit& unit, TableFunction table, Packed packed)
      : conv_(conv),
        unit_(unit),
        table_(table),
        packed_(std::move(packed)),
        padding_(conv.window.in_channels, static_cast<std::int8_t>(conv.window.padding_value)) {
    take_taps(1);
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
    run_share(in, out, {0, conv_.window.out_pixels()}, taps_.data());
  }

  int split(int parts) override {
    if (!is_worth_sharing(conv_.window)) {
      return 1;
    }
    parts_ = parts;
    take_taps(parts);
    return parts;
  }

  void run_part(const std::int8_t* in, std::int8_t* out, int part) override {
    const Window& w = conv_.window;
    run_share(in, out, share_of(w.out_pixels(), part, parts_, w.out_width),
              taps_.data() + tap_count_ * part);
  }

 private:
  void take_taps(int parts) {
    tap_count_ = std::size_t(packed_.groups) * unit_.packing.group;
    taps_.assign(tap_count_ * parts, padding_.data());
  }

  void run_share(const std::int8_t* in, std::int8_t* out, Share pixels,
                 const std::int8_t** taps) const {
    const Window& w = conv_.window;
    const TileNumbers numbers{packed_.blocks(0), conv_.low, conv_.high};
    Pixel pixel(w, pixels.first);
    std::int8_t* first = out + pixels.first * w.out_channels;
    for (std::int64_t i = pixels.first; i < pixels.end; ++i, pixel.next()) {
      find_taps(in, pixel, taps);
      unit_.convolve(taps, packed_.groups, packed_.tile_weights(0), numbers, w.out_channels,
                     out + i * w.out_channels);
    }
    if (conv_.table != nullptr) {
      table_(conv_.table, (pixels.end - pixels.first) * w.out_channels, first, first);
    }
  }

  void find_taps(const std::int8_t* in, const Pixel& pixel, const std::int8_t** taps) const {
    const Window& w = conv_.window;
    if (pixel.is_interior()) {
      const std::int8_t* base = in + pixel.offset(pixel.top(), pixel.left());
      for (std::size_t tap = 0; tap < offsets_.size(); ++tap) {
        taps[tap] = base + offsets_[tap];
      }
      return;
    }
    std::size_t tap = 0;
    for (int i = 0; i < w.kernel_height; ++i) {
      const int y = pixel.top() + i * w.dilation_height;
      for (int j = 0; j < w.kernel_width; ++j) {
        const int x = pixel.left() + j * w.dilation_width;
        const bool is_inside = pixel.is_row_inside(y) && pixel.is_column_inside(x);
        taps[tap++] = is_inside ? in + pixel.offset(y, x) : padding_.data();
      }
    }
  }

  Conv2d conv_;
  const DepthwiseUnit& unit_;
  TableFunction table_;
  Packed packed_;
  std::vector<std::int8_t> padding_;
  int parts_ = 1;
  std::size_t tap_count_ = 0;
  /// Of each part. Those past the last tap stay on the padding; their weights are zero.
  std::vector<const std::int8_t*> taps_;
  std::vector<std::int64_t> offsets_;
};

/// Windows of 3x3 that slide by one or two pixels along a row.
bool slides_in_rows(const Window& w) {
  return w.kernel_height == 3 && w.kernel_width == 3 && w.dilation_width == 1 &&
         w.stride_width <= 2;
}

class DepthwiseRows : public ConvKernel {
 public:
  DepthwiseRows(const Conv2d& conv, const DepthwiseUnit& unit, TableFunction table, Packed packed)
      : conv_(conv),
        unit_(unit),
        table_(table),
        packed_(std::move(packed)),
        padding_(conv.window.in_channels, static_cast<std::int8_t>(conv.window.padding_value)) {}

  void run(const std::int8_t* in, std::int8_t* out) override {
    run_share(in, out, {0, std::int64_t{conv_.window.batch} * conv_.window.out_height});
  }

  int split(int parts) override {
    parts_ = is_worth_sharing(conv_.window) ? parts : 1;
    return parts_;
  }

  void run_part(const std::int8_t* in, std::int8_t* out, int part) override {
    const std::int64_t rows = std::int64_t{conv_.window.batch} * conv_.window.out_height;
    run_share(in, out, share_of(rows, part, parts_, 1));
  }

 private:
  void run_share(const std::int8_t* in, std::int8_t* out, Share rows) const {
    const Window& w = conv_.window;
    const TileNumbers numbers{packed_.blocks(0), conv_.low, conv_.high};
    const std::int64_t row_values = std::int64_t{w.out_width} * w.out_channels;
    for (std::int64_t i = rows.first; i < rows.end; ++i) {
      std::int8_t* place = out + i * row_values;
      unit_.rows.convolve(find_row(in, i), w.stride_width, packed_.tile_weights(0), numbers,
                          w.out_channels, place);
      if (conv_.table != nullptr) {
        table_(conv_.table, row_values, place, place);
      }
    }
  }

  DepthwiseRow find_row(const std::int8_t* in, std::int64_t row) const {
    const Window& w = conv_.window;
    const Pixel pixel(w, row * w.out_width);
    DepthwiseRow found{.padding = padding_.data(),
                       .in_width = w.in_width,
                       .first_column = -w.pad_left,
                       .out_width = w.out_width};
    for (int i = 0; i < 3; ++i) {
      const int y = pixel.top() + i * w.dilation_height;
      const bool is_inside = pixel.is_row_inside(y);
      found.rows[i] = is_inside ? in + pixel.offset(y, 0) : padding_.data();
      found.steps[i] = is_inside ? w.in_channels : 0;
    }
    return found;
  }

  Conv2d conv_;
  const DepthwiseUnit& unit_;
  TableFunction table_;
  Packed packed_;
  std::vector<std::int8_t> padding_;
  int parts_ = 1;
};

/// The packing that the kernel for these windows reads.
const Packing& packing_of(const Window& w, const GemmUnit& gemm, const DepthwiseUnit& depthwise) {
  if (w.groups == 1) {
    return gemm.packing;
  }
  const bool has_rows = depthwise.rows.convolve != nullptr && slides_in_rows(w);
  return has_rows ? depthwise.rows.packing : depthwise.packing;
}

}  // namespace

std::unique_ptr<ConvKernel> make_packed_conv(const Conv2d& conv, const GemmUnit& gemm,
                                             const DepthwiseUnit& depthwise, TableFunction table) {
  const Window& w = conv.window;
  const bool is_depthwise = w.groups > 1 && w.in_group() == 1 && w.out_group() == 1;
  if (w.groups > 1 && !is_depthwise) {
    return nullptr;
  }
  const Packing& packing = packing_of(w, gemm, depthwise);
  auto packed = pack(conv, packing);
  if (!packed) {
    return nullptr;
  }
  if (&packing == &depthwise.rows.packing) {
    return std::make_unique<DepthwiseRows>(conv, depthwise, table, std::move(*packed));
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
