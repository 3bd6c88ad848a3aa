#pragma once

#include "fixedpoint/operations.h"

#include <cstdint>
#include <memory>

namespace fixedpoint {

/// Products of a (batch, rows, depth) and b (batch, columns, depth): rows by rows.
struct Matmul {
  int batch = 0;
  int rows = 0;
  int columns = 0;
  int depth = 0;
  int zero_point_a = 0;
  int zero_point_b = 0;
  Requantize requantize;
};

/// Softmax of each row of int8. exponentials: 256, by distance to the row's largest, in 30 bits of
/// fraction; the first is one.
struct Softmax {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  const std::int32_t* exponentials = nullptr;
  Requantize requantize;
};

/// Layer norm of each row, requantized by column; multipliers may be negative.
struct LayerNorm {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  const std::int32_t* multipliers = nullptr;
  const std::uint8_t* shifts = nullptr;
  const std::int64_t* biases = nullptr;
  /// Added to columns^2 times the variance, in units of 4^-epsilon_bits; at least 1.
  std::int64_t epsilon = 1;
  int epsilon_bits = 0;
  int low = -128;
  int high = 127;
};

/// sums[j] = a . b[j] for `columns` rows of b; rows have `depth` values, a multiple of
/// kDotAlignment; the sums fit 32 bits.
using DotRows = void (*)(const std::int16_t* a, const std::int16_t* b, int columns, int depth,
                         std::int32_t* sums);
constexpr int kDotAlignment = 16;
/// A depth with what lacks to that.
constexpr int padded_depth(int depth) {
  return (depth + kDotAlignment - 1) / kDotAlignment * kDotAlignment;
}
void dot_rows(const std::int16_t* a, const std::int16_t* b, int columns, int depth,
              std::int32_t* sums);
#if defined(__x86_64__)
/// Computes dot_rows on processors with AVX2.
void dot_rows_avx2(const std::int16_t* a, const std::int16_t* b, int columns, int depth,
                   std::int32_t* sums);
#endif

/// A product of activations of type T made ready: scratch memory taken. Not for two threads at a
/// time.
template <class T>
class TypedMatmulKernel {
 public:
  TypedMatmulKernel() = default;
  TypedMatmulKernel(const TypedMatmulKernel&) = delete;
  TypedMatmulKernel& operator=(const TypedMatmulKernel&) = delete;
  virtual ~TypedMatmulKernel() = default;
  virtual void run(const T* a, const T* b, T* out) = 0;
};
using MatmulKernel = TypedMatmulKernel<std::int8_t>;
using MatmulKernel16 = TypedMatmulKernel<std::int16_t>;

/// A row at a time, by `dot`.
std::unique_ptr<MatmulKernel> make_dot_matmul(const Matmul& matmul, DotRows dot);
/// The definition.
std::unique_ptr<MatmulKernel> make_matmul(const Matmul& matmul);

/// Bits of fraction of a sum's reciprocal, and of an exponential and a probability.
constexpr int kReciprocalBits = 60;
constexpr int kSoftmaxBits = 30;

/// Multiplier of a distance to the mean, and shift of the product.
struct InverseRoot {
  std::int64_t factor;
  int shift;
};
/// `value`: at least 1, below 2^62.
InverseRoot inverse_root(std::int64_t value);

/// Inverts the deviation of a row with these sums of values and of squares.
inline InverseRoot inverse_deviation(const LayerNorm& op, std::int64_t sum, std::int64_t squares) {
  const std::int64_t spread = op.columns * squares - sum * sum;
  auto inverse = inverse_root((spread << (2 * op.epsilon_bits)) + op.epsilon);
  inverse.shift -= op.epsilon_bits;
  return inverse;
}

/// Calls finish(column, value) with each value of a row less their mean, over their deviation, in
/// 23 bits of fraction.
template <class T, class Finish>
void for_each_normalized(const LayerNorm& op, const T* in, Finish finish) {
  std::int64_t sum = 0;
  std::int64_t squares = 0;
  for (std::int64_t i = 0; i < op.columns; ++i) {
    sum += in[i];
    squares += in[i] * in[i];
  }
  const auto [factor, shift] = inverse_deviation(op, sum, squares);
  const std::int64_t half = std::int64_t{1} << (shift - 1);
  for (std::int64_t i = 0; i < op.columns; ++i) {
    finish(i, ((op.columns * in[i] - sum) * factor + half) >> shift);
  }
}

/// Does each row of a Softmax or a LayerNorm by itself.
template <class Op, class T>
void by_rows(const Op& op, const T* in, T* out, void (*do_row)(const Op&, const T*, T*)) {
  for (std::int64_t row = 0; row < op.rows; ++row) {
    do_row(op, in + row * op.columns, out + row * op.columns);
  }
}

void softmax(const Softmax& softmax, const std::int8_t* in, std::int8_t* out);
void layer_norm(const LayerNorm& norm, const std::int8_t* in, std::int8_t* out);

}  // namespace fixedpoint
