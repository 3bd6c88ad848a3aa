#include "fixedpoint/decode.h"
#include "fixedpoint/format.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/program.h"
#include "fixedpoint/result.h"
#include "fixedpoint/transformer.h"
#include "fixedpoint/validate.h"

#include <array>
#include <cstdint>
#include <string>

namespace fixedpoint {
namespace {

/// Longest row of a softmax or a layer norm: sums of squares and the reciprocals fit.
constexpr std::int32_t kMaxColumns = 1 << 14;
constexpr std::int32_t kOne = 1 << 30;
constexpr std::int64_t kMaxEpsilon = std::int64_t{1} << 60;

/// Rows and columns that fit input and output.
Status check_rows(const Program& program, const OperationRecord& operation) {
  const auto& a = operation.attributes;
  const auto count = product(std::array{a[0], a[1]});
  if (count < 0 || a[1] > kMaxColumns || !is_operand(program, operation, 0, count) ||
      !is_output(program, operation, count)) {
    return fail("its rows do not fit its tensors, or are too long");
  }
  return check_clamp(program, operation);
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

Result<Softmax> decode_softmax(const Program& program, const OperationRecord& operation) {
  if (auto status = check_rows(program, operation); !status) {
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
  return Softmax{.rows = operation.attributes[0],
                 .columns = operation.attributes[1],
                 .exponentials = exponentials,
                 .requantize = *requantize};
}

Result<LayerNorm> decode_layer_norm(const Program& program, const OperationRecord& operation) {
  if (auto status = check_rows(program, operation); !status) {
    return fail(status.error());
  }
  const std::int64_t columns = operation.attributes[1];
  const auto* multiplier = input_of(program, operation, 1);
  const auto* shift = input_of(program, operation, 2);
  const auto* bias = input_of(program, operation, 3);
  if (!is_constant(multiplier, DType::kInt32, columns) ||
      !is_constant(shift, DType::kUint8, columns) || !is_constant(bias, DType::kInt64, columns) ||
      operation.bias < 1 || operation.bias > kMaxEpsilon) {
    return fail("its constants do not fit its rows");
  }
  const LayerNorm norm{.rows = operation.attributes[0],
                       .columns = columns,
                       .multipliers = content<std::int32_t>(program, multiplier),
                       .shifts = content<std::uint8_t>(program, shift),
                       .biases = content<std::int64_t>(program, bias),
                       .epsilon = operation.bias,
                       .low = operation.low,
                       .high = operation.high};
  if (auto status = check_columns(norm, type_of(program, operation)); !status) {
    return fail(status.error());
  }
  return norm;
}

}  // namespace fixedpoint
