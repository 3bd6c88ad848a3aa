#include "fixedpoint/packed_matmul.h"

#include "fixedpoint/format.h"
#include "fixedpoint/packed_conv.h"
#include "fixedpoint/packed_weights.h"
#include "fixedpoint/transformer.h"
#include "fixedpoint/turn_signs.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace fixedpoint {
namespace {

constexpr int kLine = 64;

/// Sums of (a - za) * (b - zb) are those of (a + 128) * b, and a term for each row and column.
class PackedMatmul : public MatmulKernel {
 public:
  PackedMatmul(const Matmul& matmul, const MatmulUnit& unit, const BlockNumbers& numbers)
      : matmul_(matmul),
        unit_(unit),
        numbers_(numbers),
        stride_(std::ptrdiff_t{divide_up(matmul.depth, kLine)} * kLine),
        groups_(divide_up(matmul.depth, unit.group)),
        tile_columns_(std::ptrdiff_t{divide_up(matmul.columns, unit.columns)} * unit.columns),
        rows_(take_memory(stride_ * matmul.rows)),
        columns_(take_memory(tile_columns_ * groups_ * unit.group)),
        column_terms_(take_memory(tile_columns_ * sizeof(std::int32_t))),
        row_terms_(matmul.rows) {}

  void run(const std::int8_t* a, const std::int8_t* b, std::int8_t* out) override {
    const Matmul& op = matmul_;
    auto* starts = reinterpret_cast<std::int32_t*>(column_terms_.get());
    for (int i = 0; i < op.batch; ++i) {
      pack_rows(a);
      unit_.pack_columns(b, op.columns, op.depth, columns_.get(), starts);
      for (int j = 0; j < op.columns; ++j) {
        starts[j] *= -(op.zero_point_a + kTurnedSign);
      }
      unit_.multiply({rows_.get(), stride_, op.rows, row_terms_.data(), groups_},
                     {columns_.get(), op.columns, starts},
                     {&numbers_, op.requantize.low, op.requantize.high}, out);
      a += std::ptrdiff_t{op.rows} * op.depth;
      b += std::ptrdiff_t{op.columns} * op.depth;
      out += std::ptrdiff_t{op.rows} * op.columns;
    }
  }

 private:
  void pack_rows(const std::int8_t* a) {
    const Matmul& op = matmul_;
    for (int row = 0; row < op.rows; ++row) {
      const std::int32_t sum =
          unit_.pack_row(a + std::ptrdiff_t{row} * op.depth, op.depth, rows_.get() + row * stride_);
      row_terms_[row] = -op.zero_point_b * (sum - (op.zero_point_a + kTurnedSign) * op.depth);
    }
  }

  Matmul matmul_;
  const MatmulUnit& unit_;
  BlockNumbers numbers_;
  std::ptrdiff_t stride_;
  std::ptrdiff_t groups_;
  std::ptrdiff_t tile_columns_;
  Memory rows_;
  Memory columns_;
  Memory column_terms_;
  std::vector<std::int32_t> row_terms_;
};

}  // namespace

std::unique_ptr<MatmulKernel> make_packed_matmul(const Matmul& matmul, const MatmulUnit& unit) {
  BlockNumbers numbers = {};
  if (matmul.requantize.rounding != Rounding::kHalfUp ||
      !spread(matmul.requantize, std::int64_t{255} * 255 * matmul.depth, numbers)) {
    return nullptr;
  }
  return std::make_unique<PackedMatmul>(matmul, unit, numbers);
}

}  // namespace fixedpoint
