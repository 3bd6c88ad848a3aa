#include "fixedpoint/packed_matmul16.h"

#include "fixedpoint/operations.h"
#include "fixedpoint/packed_conv.h"
#include "fixedpoint/packed_weights.h"
#include "fixedpoint/transformer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace fixedpoint {
namespace {

/// Products of 2^15 and 2^7: of twice as many one sum could reach 2^31, for a byte may be -128.
constexpr int kPartDepth = kMostDepth16 / 2;

constexpr std::ptrdiff_t kValueBytes = sizeof(std::int16_t);

using Sums = std::array<std::int32_t, kMostTileSums>;
using Totals = std::array<std::int64_t, kMostTileSums>;

class PackedMatmul16 : public MatmulKernel16 {
 public:
  PackedMatmul16(const Matmul& matmul, const GemmUnit16& unit, RequantizeRow finish)
      : matmul_(matmul),
        unit_(unit),
        finish_(finish),
        groups_(divide_up(matmul.depth, unit.packing.group)),
        row_values_(std::ptrdiff_t{groups_} * unit.packing.group),
        tiles_(divide_up(matmul.columns, unit.packing.channels)),
        rows_(take_memory(row_values_ * unit.rows * kValueBytes)),
        upper_(take_memory(matrix_bytes())),
        lower_(take_memory(matrix_bytes())) {}

  void run(const std::int16_t* a, const std::int16_t* b, std::int16_t* out) override {
    const Matmul& op = matmul_;
    for (int i = 0; i < op.batch; ++i, b += std::ptrdiff_t{op.columns} * op.depth) {
      for (int column = 0; column < op.columns; ++column) {
        pack_column(b + std::ptrdiff_t{column} * op.depth, column);
      }
      for (int row = 0; row < op.rows; row += unit_.rows) {
        const int count = std::min(unit_.rows, op.rows - row);
        pack_rows(a, count);
        multiply(count, out);
        a += std::ptrdiff_t{count} * op.depth;
        out += std::ptrdiff_t{count} * op.columns;
      }
    }
  }

 private:
  std::ptrdiff_t matrix_bytes() const { return tiles_ * tile_values() * kValueBytes; }
  std::ptrdiff_t tile_values() const { return row_values_ * unit_.packing.channels; }
  std::byte* row(int index) const { return rows_.get() + index * row_values_ * kValueBytes; }

  void pack_rows(const std::int16_t* a, int count) const {
    for (int i = 0; i < count; ++i) {
      unit_.pack(a + std::ptrdiff_t{i} * matmul_.depth, matmul_.depth, row(i));
    }
  }

  /// Each value is 256 * upper + lower, and lower a byte with a sign.
  void pack_column(const std::int16_t* values, int column) const {
    const auto [channels, group, weight_bytes, offset, channel_of, tap_of] = unit_.packing;
    const std::ptrdiff_t place =
        column / channels * tile_values() + column % channels * std::ptrdiff_t{group};
    auto* upper = reinterpret_cast<std::int16_t*>(upper_.get()) + place;
    auto* lower = reinterpret_cast<std::int16_t*>(lower_.get()) + place;
    for (int first = 0; first < matmul_.depth; first += group) {
      const int count = std::min(group, matmul_.depth - first);
      for (int i = 0; i < count; ++i) {
        lower[i] = static_cast<std::int8_t>(values[first + i]);
        upper[i] = static_cast<std::int16_t>((values[first + i] - lower[i]) >> 8);
      }
      upper += channels * group;
      lower += channels * group;
    }
  }

  void multiply(int rows, std::int16_t* out) const {
    const int channels = unit_.packing.channels;
    for (int tile = 0; tile < tiles_; ++tile) {
      const int first = tile * channels;
      const int count = std::min(channels, matmul_.columns - first);
      const Totals totals = sum_up(rows, tile);
      for (int i = 0; i < rows; ++i) {
        finish_(matmul_.requantize, totals.data() + std::ptrdiff_t{i} * channels, count,
                out + std::ptrdiff_t{i} * matmul_.columns + first);
      }
    }
  }

  Totals sum_up(int rows, int tile) const {
    const Packing& packing = unit_.packing;
    Sums upper;
    Sums lower;
    Totals totals;
    const int sums = rows * packing.channels;
    std::fill_n(totals.begin(), sums, 0);
    const int most_groups = kPartDepth / packing.group;
    for (int first = 0; first < groups_; first += most_groups) {
      const int groups = std::min(most_groups, groups_ - first);
      const std::ptrdiff_t depth = std::ptrdiff_t{first} * packing.group;
      const std::ptrdiff_t place = (tile * tile_values() + depth * packing.channels) * kValueBytes;
      const std::byte* a = row(0) + depth * kValueBytes;
      const std::ptrdiff_t stride = row_values_ * kValueBytes;
      unit_.sum_up(a, stride, rows, upper_.get() + place, groups, upper.data());
      unit_.sum_up(a, stride, rows, lower_.get() + place, groups, lower.data());
      for (int i = 0; i < sums; ++i) {
        totals[i] += std::int64_t{upper[i]} * 256 + lower[i];
      }
    }
    return totals;
  }

  Matmul matmul_;
  const GemmUnit16& unit_;
  RequantizeRow finish_;
  int groups_;
  /// Values of a row, padded to whole groups.
  std::ptrdiff_t row_values_;
  int tiles_;
  Memory rows_;
  Memory upper_;
  Memory lower_;
};

}  // namespace

void requantize_row(const Requantize& numbers, const std::int64_t* sums, int count,
                    std::int16_t* out) {
  for (int i = 0; i < count; ++i) {
    out[i] = requantize_wide(numbers, sums[i]);
  }
}

std::unique_ptr<MatmulKernel16> make_packed_matmul16(const Matmul& matmul, const GemmUnit16& unit,
                                                     RequantizeRow finish) {
  return std::make_unique<PackedMatmul16>(matmul, unit, finish);
}

}  // namespace fixedpoint
