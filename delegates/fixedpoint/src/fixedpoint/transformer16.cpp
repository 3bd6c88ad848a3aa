#include "fixedpoint/transformer16.h"

#include "fixedpoint/operations.h"
#include "fixedpoint/transformer.h"

#include <algorithm>
#include <cstdint>
#include <memory>

namespace fixedpoint {
namespace {

std::int64_t dot(const std::int16_t* a, const std::int16_t* b, int depth) {
  std::int64_t sum = 0;
  for (int k = 0; k < depth; ++k) {
    sum += std::int64_t{a[k]} * b[k];
  }
  return sum;
}

void softmax_row(const Softmax& op, const std::int16_t* in, std::int16_t* out) {
  const int most = *std::max_element(in, in + op.columns);
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < op.columns; ++i) {
    sum += exponential16(op.exponentials, most - in[i]);
  }
  const std::int64_t reciprocal = (std::int64_t{1} << kReciprocalBits) / sum;
  for (std::int64_t i = 0; i < op.columns; ++i) {
    const std::int64_t product = exponential16(op.exponentials, most - in[i]) * reciprocal;
    out[i] = requantize_wide(op.requantize, product >> (kReciprocalBits - kSoftmaxBits));
  }
}

void normalize_row(const LayerNorm& op, const std::int16_t* in, std::int16_t* out) {
  for_each_normalized(op, in, [&](std::int64_t i, std::int64_t normalized) {
    const Requantize requantize{.multiplier = op.multipliers[i],
                                .bias = op.biases[i],
                                .shift = op.shifts[i],
                                .low = op.low,
                                .high = op.high};
    out[i] = requantize_wide(requantize, normalized);
  });
}

class PlainMatmul16 : public MatmulKernel16 {
 public:
  explicit PlainMatmul16(const Matmul& matmul) : matmul_(matmul) {}

  void run(const std::int16_t* a, const std::int16_t* b, std::int16_t* out) override {
    const Matmul& op = matmul_;
    for (int i = 0; i < op.batch; ++i) {
      for (int row = 0; row < op.rows; ++row) {
        for (int j = 0; j < op.columns; ++j) {
          out[j] = requantize_wide(op.requantize, dot(a, b + std::int64_t{j} * op.depth, op.depth));
        }
        a += op.depth;
        out += op.columns;
      }
      b += std::int64_t{op.columns} * op.depth;
    }
  }

 private:
  Matmul matmul_;
};

}  // namespace

std::unique_ptr<MatmulKernel16> make_matmul16(const Matmul& matmul) {
  return std::make_unique<PlainMatmul16>(matmul);
}

void softmax(const Softmax& op, const std::int16_t* in, std::int16_t* out) {
  by_rows(op, in, out, softmax_row);
}

void layer_norm(const LayerNorm& op, const std::int16_t* in, std::int16_t* out) {
  by_rows(op, in, out, normalize_row);
}

}  // namespace fixedpoint
