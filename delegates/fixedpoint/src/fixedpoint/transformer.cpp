#include "fixedpoint/transformer.h"

#include "fixedpoint/operations.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace fixedpoint {
namespace {

constexpr int kNormBits = 61;
constexpr int kLayerNormBits = 23;

/// `count` values less their zero point; what lies behind them in `out` stays 0.
void widen(const std::int8_t* in, int count, int zero_point, std::int16_t* out) {
  for (int i = 0; i < count; ++i) {
    out[i] = static_cast<std::int16_t>(in[i] - zero_point);
  }
}

/// The largest integer whose square is at most `value`, which is in [2^60, 2^62).
///
/// Newton's steps fall from a tangent, which lies above the root, until they would rise.
std::int64_t integer_root(std::int64_t value) {
  constexpr std::int64_t kHalfOfMiddle = 759250125;  // sqrt(2^61) / 2, rounded up
  std::int64_t root = kHalfOfMiddle + (((value >> 31) + 1) * kHalfOfMiddle >> 30) + 1;
  while (true) {
    const std::int64_t next = (root + value / root) / 2;
    if (next >= root) {
      return root;
    }
    root = next;
  }
}

void normalize_row(const LayerNorm& op, const std::int8_t* in, std::int8_t* out) {
  for_each_normalized(op, in, [&](std::int64_t i, std::int64_t normalized) {
    const std::int64_t value = (normalized * op.multipliers[i] + op.biases[i]) >> op.shifts[i];
    out[i] =
        static_cast<std::int8_t>(std::clamp(value, std::int64_t{op.low}, std::int64_t{op.high}));
  });
}

void softmax_row(const Softmax& op, const std::int8_t* in, std::int8_t* out) {
  const int most = *std::max_element(in, in + op.columns);
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < op.columns; ++i) {
    sum += op.exponentials[most - in[i]];
  }
  const std::int64_t reciprocal = (std::int64_t{1} << kReciprocalBits) / sum;
  for (std::int64_t i = 0; i < op.columns; ++i) {
    out[i] = op.requantize((op.exponentials[most - in[i]] * reciprocal) >>
                           (kReciprocalBits - kSoftmaxBits));
  }
}

class DotMatmul : public MatmulKernel {
 public:
  DotMatmul(const Matmul& matmul, DotRows dot)
      : matmul_(matmul),
        dot_(dot),
        stride_(padded_depth(matmul.depth)),
        row_(stride_),
        matrix_(static_cast<std::size_t>(matmul.columns) * stride_),
        sums_(matmul.columns) {}

  void run(const std::int8_t* a, const std::int8_t* b, std::int8_t* out) override {
    const Matmul& op = matmul_;
    for (int i = 0; i < op.batch; ++i) {
      for (int j = 0; j < op.columns; ++j) {
        widen(b, op.depth, op.zero_point_b, matrix_.data() + std::ptrdiff_t{j} * stride_);
        b += op.depth;
      }
      for (int row = 0; row < op.rows; ++row) {
        widen(a, op.depth, op.zero_point_a, row_.data());
        dot_(row_.data(), matrix_.data(), op.columns, stride_, sums_.data());
        for (int j = 0; j < op.columns; ++j) {
          out[j] = op.requantize(sums_[j]);
        }
        a += op.depth;
        out += op.columns;
      }
    }
  }

 private:
  Matmul matmul_;
  DotRows dot_;
  int stride_;
  std::vector<std::int16_t> row_;
  std::vector<std::int16_t> matrix_;
  std::vector<std::int32_t> sums_;
};

}  // namespace

InverseRoot inverse_root(std::int64_t value) {
  const int half = (62 - static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value)))) / 2;
  const std::int64_t root = integer_root(value << (2 * half));
  return {.factor = (std::int64_t{1} << kNormBits) / root,
          .shift = kNormBits - half - kLayerNormBits};
}

void dot_rows(const std::int16_t* a, const std::int16_t* b, int columns, int depth,
              std::int32_t* sums) {
  for (int j = 0; j < columns; ++j) {
    std::int32_t sum = 0;
    for (int k = 0; k < depth; ++k) {
      sum += a[k] * b[k];
    }
    sums[j] = sum;
    b += depth;
  }
}

std::unique_ptr<MatmulKernel> make_dot_matmul(const Matmul& matmul, DotRows dot) {
  return std::make_unique<DotMatmul>(matmul, dot);
}

std::unique_ptr<MatmulKernel> make_matmul(const Matmul& matmul) {
  return make_dot_matmul(matmul, dot_rows);
}

void softmax(const Softmax& op, const std::int8_t* in, std::int8_t* out) {
  by_rows(op, in, out, softmax_row);
}

void layer_norm(const LayerNorm& op, const std::int8_t* in, std::int8_t* out) {
  by_rows(op, in, out, normalize_row);
}

}  // namespace fixedpoint
