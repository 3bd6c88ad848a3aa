#include "fixedpoint/winograd_conv.h"

#include "fixedpoint/kernels.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/packed_conv.h"
#include "fixedpoint/packed_kernel.h"
#include "fixedpoint/packed_weights.h"
#include "fixedpoint/winograd_weights.h"
#include "fixedpoint/workers.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace fixedpoint {
namespace {

/// Transformed activations that are multiplied by all weights before the next.
constexpr std::ptrdiff_t kPanelBytes = 192 * 1024;
constexpr int kMostPanelTiles = 96;
constexpr std::ptrdiff_t kLine = 64;

/// The next odd number of cache lines: places that lie so far apart meet in no set of a cache.
std::ptrdiff_t odd_lines(std::ptrdiff_t bytes) {
  const std::ptrdiff_t lines = (bytes + kLine - 1) / kLine;
  return (lines | 1) * kLine;
}

/// Results in a square, by their image and the square's place in it.
struct Tile {
  int image = 0;
  int row = 0;
  int column = 0;
};

class WinogradConv : public PackedKernel<std::int8_t> {
 public:
  WinogradConv(const Conv2d& conv, const WinogradUnit& unit, TableFunction table,
               PackedWeights packed)
      : PackedKernel(conv, table, std::move(packed)),
        unit_(unit),
        gemm_(*unit.gemm),
        tile_rows_(divide_up(conv.window.out_height, unit.results())),
        tile_columns_(divide_up(conv.window.out_width, unit.results())),
        tile_count_(std::int64_t{conv.window.batch} * tile_rows_ * tile_columns_),
        row_values_(packed_.groups * gemm_.packing.group),
        pixel_row_(std::ptrdiff_t{unit.side()} * conv.window.in_channels),
        padding_(pixel_row_, static_cast<std::int8_t>(conv.window.padding_value)) {
    choose_panel();
    scratch_->reserve(memory_bytes_);
  }

  void run(const std::int8_t* in, std::int8_t* out) override {
    run_share(in, out, {0, tile_count_}, {0, packed_.tiles}, scratch_->data());
  }

  /// By tiles of results, or by tiles of channels where there are few of them.
  int split(int parts) override {
    scratch_->reserve(memory_bytes_ * take_parts(parts));
    return parts_;
  }

  void run_part(const std::int8_t* in, std::int8_t* out, int part) override {
    Share tiles{0, tile_count_};
    Share channels{0, packed_.tiles};
    if (tile_count_ >= std::int64_t{2} * gemm_.rows * parts_) {
      tiles = share_of(tile_count_, part, parts_, gemm_.rows);
    } else {
      channels = share_of(packed_.tiles, part, parts_, 1);
    }
    run_share(in, out, tiles, channels, scratch_->data() + memory_bytes_ * part);
  }

 private:
  void choose_panel() {
    const std::ptrdiff_t tile_bytes = unit_.places() * row_values_ * kValueBytes;
    const std::ptrdiff_t most = kPanelBytes / tile_bytes;
    const auto fitting = static_cast<int>(std::min<std::ptrdiff_t>(most, kMostPanelTiles));
    const int largest = std::max(fitting / gemm_.rows, 1) * gemm_.rows;
    // Panels of equal size, or the last would be small.
    const std::int64_t panels = (tile_count_ + largest - 1) / largest;
    const auto equal = static_cast<int>((tile_count_ + panels - 1) / panels);
    panel_tiles_ = std::min(divide_up(equal, gemm_.rows) * gemm_.rows, largest);
    value_step_ = odd_lines(panel_tiles_ * row_values_ * kValueBytes);
    sum_step_ = odd_lines(panel_tiles_ * gemm_.packing.channels * kSumBytes);
    memory_bytes_ =
        unit_.places() * (value_step_ + sum_step_) + odd_lines(unit_.side() * pixel_row_);
  }

  void run_share(const std::int8_t* in, std::int8_t* out, Share tiles, Share channels,
                 std::byte* memory) const {
    auto* values = reinterpret_cast<std::int16_t*>(memory);
    auto* sums = reinterpret_cast<std::int32_t*>(memory + unit_.places() * value_step_);
    for (std::int64_t first = tiles.first; first < tiles.end && channels.first < channels.end;
         first += panel_tiles_) {
      const auto count = static_cast<int>(std::min<std::int64_t>(panel_tiles_, tiles.end - first));
      transform(in, first, count, memory);
      for (auto i = static_cast<int>(channels.first); i < channels.end; ++i) {
        multiply(values, count, i, sums);
        finish(sums, first, count, i, out);
      }
    }
  }

  Tile tile_at(std::int64_t index) const {
    const std::int64_t row = index / tile_columns_;
    return {.image = static_cast<int>(row / tile_rows_),
            .row = static_cast<int>(row % tile_rows_),
            .column = static_cast<int>(index % tile_columns_)};
  }

  void transform(const std::int8_t* in, std::int64_t first, int count, std::byte* memory) const {
    auto* values = reinterpret_cast<std::int16_t*>(memory);
    auto* patch =
        reinterpret_cast<std::int8_t*>(memory) + unit_.places() * (value_step_ + sum_step_);
    for (int i = 0; i < count; ++i, values += row_values_) {
      std::array<const std::int8_t*, kMostWinogradSide> rows;
      const Tile tile = tile_at(first + i);
      for (int row = 0; row < unit_.side(); ++row) {
        rows[row] = pixels_of(in, tile, row, patch + row * pixel_row_);
      }
      unit_.transform(rows.data(), conv_.window.in_channels, values, value_step_ / kValueBytes);
    }
  }

  /// A row of a tile's pixels: where they lie in the input, or a copy of those that do and padding.
  const std::int8_t* pixels_of(const std::int8_t* in, const Tile& tile, int row,
                               std::int8_t* copy) const {
    const Window& w = conv_.window;
    const int y = tile.row * unit_.results() - w.pad_top + row;
    const int x = tile.column * unit_.results() - w.pad_left;
    if (y < 0 || y >= w.in_height) {
      return padding_.data();
    }
    const std::int8_t* line =
        in + (std::int64_t{tile.image} * w.in_height + y) * w.in_width * w.in_channels;
    const int begin = std::max(x, 0);
    const int end = std::min(x + unit_.side(), w.in_width);
    if (end - begin == unit_.side()) {
      return line + std::ptrdiff_t{x} * w.in_channels;
    }
    const std::size_t pixel = w.in_channels;
    std::memset(copy, w.padding_value, pixel_row_);
    std::memcpy(copy + (begin - x) * pixel, line + begin * pixel, (end - begin) * pixel);
    return copy;
  }

  /// The sums of one tile of channels.
  void multiply(const std::int16_t* values, int count, int channel_tile, std::int32_t* sums) const {
    const std::byte* weights = packed_.tile_weights(channel_tile);
    const std::size_t place_bytes = packed_.tile_weight_bytes / unit_.places();
    const std::ptrdiff_t row_bytes = row_values_ * kValueBytes;
    const int products = divide_up(count, gemm_.rows);
    for (int place = 0; place < unit_.places(); ++place, weights += place_bytes) {
      const auto* a = reinterpret_cast<const std::byte*>(values) + place * value_step_;
      std::int32_t* made = sums + place * (sum_step_ / kSumBytes);
      int row = 0;
      for (int left = products; left > 0; --left) {
        const int rows = divide_up(count - row, left);  // Few rows take as long as some more.
        gemm_.sum_up(a + row * row_bytes, row_bytes, rows, weights, packed_.groups,
                     made + std::ptrdiff_t{row} * gemm_.packing.channels);
        row += rows;
      }
    }
  }

  void finish(const std::int32_t* sums, std::int64_t first, int count, int channel_tile,
              std::int8_t* out) const {
    const Window& w = conv_.window;
    const int channel = channel_tile * gemm_.packing.channels;
    const int channels = std::min(gemm_.packing.channels, w.out_channels - channel);
    for (int i = 0; i < count; ++i, sums += gemm_.packing.channels) {
      const Tile tile = tile_at(first + i);
      const int y = tile.row * unit_.results();
      const int x = tile.column * unit_.results();
      const std::int64_t pixel = (std::int64_t{tile.image} * w.out_height + y) * w.out_width + x;
      const WinogradResults results = {.out = out + pixel * w.out_channels + channel,
                                       .row_step = std::ptrdiff_t{w.out_width} * w.out_channels,
                                       .column_step = w.out_channels,
                                       .rows = std::min(unit_.results(), w.out_height - y),
                                       .columns = std::min(unit_.results(), w.out_width - x)};
      unit_.finish(sums, sum_step_ / kSumBytes, numbers(channel_tile), channels, results);
      if (has_table()) {
        look_up_results(results, channels);
      }
    }
  }

  void look_up_results(const WinogradResults& results, int channels) const {
    for (int row = 0; row < results.rows; ++row) {
      for (int column = 0; column < results.columns; ++column) {
        look_up(channels, results.out + row * results.row_step + column * results.column_step);
      }
    }
  }

  static constexpr std::ptrdiff_t kValueBytes = sizeof(std::int16_t);
  static constexpr std::ptrdiff_t kSumBytes = sizeof(std::int32_t);

  const WinogradUnit& unit_;
  const GemmUnit16& gemm_;
  int tile_rows_;
  int tile_columns_;
  std::int64_t tile_count_;
  /// Transformed values of a tile at one place.
  int row_values_;
  /// Bytes of a row of a tile's pixels.
  std::ptrdiff_t pixel_row_;
  std::vector<std::int8_t> padding_;
  int panel_tiles_ = 0;
  /// From one place to the next, in bytes.
  std::ptrdiff_t value_step_ = 0;
  std::ptrdiff_t sum_step_ = 0;
  /// A part's memory: transformed values, their sums, and the pixels of one tile.
  std::ptrdiff_t memory_bytes_ = 0;
};

/// Transformed weights are eight times as many bytes as the layer's for tiles of four, which are
/// read for each panel, so layers of many channels take smaller tiles.
constexpr std::int64_t kMostWeightBytesOfFour = 8 * 1024 * 1024;

std::int64_t count_tiles(const Window& w, const WinogradUnit& unit) {
  return std::int64_t{w.batch} * divide_up(w.out_height, unit.results()) *
         divide_up(w.out_width, unit.results());
}

/// Multiplications of the windows by those of the tiles and of whole tiles of channels.
double gain_of(const Window& w, const WinogradUnit& unit) {
  const int channels = unit.gemm->packing.channels;
  const auto windows = static_cast<double>(w.out_pixels() * w.taps() * w.out_channels);
  return windows / static_cast<double>(count_tiles(w, unit) * unit.places() *
                                       divide_up(w.out_channels, channels) * channels);
}

}  // namespace

const WinogradUnit* choose_winograd(const Window& w, const WinogradRule& rule) {
  if (!is_winograd(w)) {
    return nullptr;
  }
  const double two = rule.two != nullptr ? gain_of(w, *rule.two) : 0;
  const double four = gain_of(w, *rule.four);
  const std::int64_t four_bytes =
      std::int64_t{sizeof(std::int16_t)} * rule.four->places() * w.in_channels * w.out_channels;
  if (four >= rule.least_gain_of_four && four >= two && four_bytes <= kMostWeightBytesOfFour &&
      count_tiles(w, *rule.four) >= rule.least_fours) {
    return rule.four;
  }
  const bool is_faster = rule.two != nullptr && two >= rule.least_gain_of_two &&
                         count_tiles(w, *rule.two) >= rule.least_twos;
  return is_faster ? rule.two : nullptr;
}

bool is_winograd(const Window& w) {
  return w.groups == 1 && w.kernel_height == 3 && w.kernel_width == 3 && w.stride_height == 1 &&
         w.stride_width == 1 && w.dilation_height == 1 && w.dilation_width == 1 &&
         w.in_channels >= kLeastWinogradChannels;
}

std::unique_ptr<ConvKernel> make_winograd_conv(const Conv2d& conv, const WinogradUnit& unit,
                                               TableFunction table) {
  if (!is_winograd(conv.window)) {
    return nullptr;
  }
  auto packed = pack_winograd_weights(conv, unit);
  if (!packed.fits) {
    return nullptr;
  }
  return std::make_unique<WinogradConv>(conv, unit, table, std::move(packed));
}

std::unique_ptr<ConvKernel> make_winograd_conv(const Conv2d& conv, const WinogradRule& rule,
                                               TableFunction table) {
  const WinogradUnit* unit = choose_winograd(conv.window, rule);
  auto made = unit != nullptr ? make_winograd_conv(conv, *unit, table) : nullptr;
  if (made == nullptr && unit == rule.four && rule.two != nullptr) {
    made = make_winograd_conv(conv, *rule.two, table);
  }
  return made;
}

}  // namespace fixedpoint
