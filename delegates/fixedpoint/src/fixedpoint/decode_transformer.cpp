#include "fixedpoint/decode.h"
#include "fixedpoint/format.h"
#include "fixedpoint/masked_softmax.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/program.h"
#include "fixedpoint/result.h"
#include "fixedpoint/transformer.h"
#include "fixedpoint/validate.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace fixedpoint {
namespace {

/// Longest row of a softmax or a layer norm: sums of squares and the reciprocals fit.
constexpr std::int32_t kMaxColumns = 1 << 14;
constexpr std::int32_t kOne = 1 << 30;
constexpr std::int64_t kMaxEpsilon = std::int64_t{1} << 60;
constexpr int kMaxEpsilonBits = 15;
constexpr std::int64_t kMaxSpread = std::int64_t{1} << 61;

/// Rows and columns that fit input and output.
Status check_rows(const Program& program, const OperationRecord& operation, std::int32_t rows,
                  std::int32_t columns) {
  const auto count = product(std::array{rows, columns});
  if (count < 0 || columns > kMaxColumns || !is_operand(program, operation, 0, count) ||
      !is_output(program, operation, count)) {
    return fail("its rows do not fit its tensors, or are too long");
  }
  return check_clamp(program, operation);
}

/// Sums of rows with the epsilon stay below 2^62, and normalized values are shifted to the right.
bool is_epsilon(std::int64_t epsilon, std::int32_t bits, std::int64_t columns,
                const ElementType& type) {
  if (epsilon < 1 || epsilon > kMaxEpsilon || bits < 0 || bits > kMaxEpsilonBits) {
    return false;
  }
  const std::int64_t range = columns * (type.high - type.low);
  const std::int64_t spread = range * range / 4;
  return spread <= kMaxSpread >> (2 * bits) && inverse_root(epsilon).shift - bits >= 1;
}

Status check_columns(const LayerNorm& norm, const ElementType& type) {
  for (std::int64_t i = 0; i < norm.columns; ++i) {
    const std::int64_t multiplier = norm.multipliers[i];
    if (!is_safe(type, kMaxInt32, multiplier < 0 ? -multiplier : multiplier, norm.biases[i],
                 norm.shifts[i])) {
      return fail("its column " + std::to_string(i) + " may overflow");
    }
  }
  return {};
}

}  // namespace

Result<Matmul> decode_matmul(const Program& program, const OperationRecord& operation) {
  const auto& a = operation.attributes;
  const Matmul op{.batch = a[0],
                  .rows = a[1],
                  .columns = a[2],
                  .depth = a[3],
                  .zero_point_a = a[4],
                  .zero_point_b = a[5]};
  const auto left = product(std::array{op.batch, op.rows, op.depth});
  const auto right = product(std::array{op.batch, op.columns, op.depth});
  const auto made = product(std::array{op.batch, op.rows, op.columns});
  if (left < 0 || right < 0 || made < 0 || op.depth > kMaxSize ||
      !is_operand(program, operation, 0, left) || !is_operand(program, operation, 1, right) ||
      !is_output(program, operation, made)) {
    return fail("its matrices do not fit its tensors");
  }
  const auto& type = type_of(program, operation);
  if (!type.has_zero_point(op.zero_point_a) || !type.has_zero_point(op.zero_point_b)) {
    return fail("a zero point of its matrices is none of its type");
  }
  const auto requantize = decode_requantize(program, operation, type.span * type.span * op.depth);
  if (!requantize) {
    return fail(requantize.error());
  }
  auto decoded = op;
  decoded.requantize = *requantize;
  return decoded;
}

namespace {

Result<Softmax> decode_softmax_of(const Program& program, const OperationRecord& operation,
                                  std::int32_t rows, std::int32_t columns) {
  if (auto status = check_rows(program, operation, rows, columns); !status) {
    return fail(status.error());
  }
  const auto requantize = decode_requantize(program, operation, kOne);
  if (!requantize) {
    return fail(requantize.error());
  }
  const auto* table = input_of(program, operation, 1);
  const auto entries = type_of(program, operation).exponential_entries;
  if (!is_constant(table, DType::kInt32, entries)) {
    return fail("it has no table of " + std::to_string(entries) + " exponentials");
  }
  const auto* exponentials = content<std::int32_t>(program, table);
  for (int i = 0; i < entries; ++i) {
    const bool is_first = i % 256 == 0;
    if (exponentials[i] < 0 || exponentials[i] > kOne || (is_first && exponentials[i] != kOne)) {
      return fail("its exponentials do not begin at one, or leave 30 bits");
    }
  }
  return Softmax{
      .rows = rows, .columns = columns, .exponentials = exponentials, .requantize = *requantize};
}

}  // namespace

Result<Softmax> decode_softmax(const Program& program, const OperationRecord& operation) {
  return decode_softmax_of(program, operation, operation.attributes[0], operation.attributes[1]);
}

Result<MaskedSoftmax> decode_masked_softmax(const Program& program,
                                            const OperationRecord& operation) {
  // Behind the read of the mask: rows, columns, which bytes mask, rows of which nothing is left.
  const auto rest = std::span(operation.attributes).subspan(14, 4);
  const auto softmax = decode_softmax_of(program, operation, rest[0], rest[1]);
  if (!softmax) {
    return fail(softmax.error());
  }
  const auto is_flag = [](std::int32_t value) { return value == 0 || value == 1; };
  const auto* mask = input_of(program, operation, 2);
  if (mask == nullptr || mask->dtype != DType::kUint8 || !is_flag(rest[2]) || !is_flag(rest[3])) {
    return fail("it has no mask of bytes, or does not say what they mask");
  }
  const auto read = decode_reads(operation, *mask, softmax->rows * softmax->columns);
  if (!read) {
    return fail(read.error());
  }
  if (read->rank < 2 || read->dims[read->rank - 1] != softmax->columns) {
    return fail("its mask is not read row by row");
  }
  return MaskedSoftmax{.softmax = *softmax,
                       .mask = *read,
                       .masks_nonzero = rest[2] == 1,
                       .is_equal_where_empty = rest[3] == 1};
}

Result<LayerNorm> decode_layer_norm(const Program& program, const OperationRecord& operation) {
  if (auto status =
          check_rows(program, operation, operation.attributes[0], operation.attributes[1]);
      !status) {
    return fail(status.error());
  }
  const std::int64_t columns = operation.attributes[1];
  const auto* multiplier = input_of(program, operation, 1);
  const auto* shift = input_of(program, operation, 2);
  const auto* bias = input_of(program, operation, 3);
  if (!is_constant(multiplier, DType::kInt32, columns) ||
      !is_constant(shift, DType::kUint8, columns) || !is_constant(bias, DType::kInt64, columns) ||
      !is_epsilon(operation.bias, operation.attributes[2], columns, type_of(program, operation))) {
    return fail("its constants do not fit its rows");
  }
  const LayerNorm norm{.rows = operation.attributes[0],
                       .columns = columns,
                       .multipliers = content<std::int32_t>(program, multiplier),
                       .shifts = content<std::uint8_t>(program, shift),
                       .biases = content<std::int64_t>(program, bias),
                       .epsilon = operation.bias,
                       .epsilon_bits = operation.attributes[2],
                       .low = operation.low,
                       .high = operation.high};
  if (auto status = check_columns(norm, type_of(program, operation)); !status) {
    return fail(status.error());
  }
  return norm;
}

}  // namespace fixedpoint
