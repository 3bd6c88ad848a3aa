#include "fixedpoint/decode.h"

#include "fixedpoint/format.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/program.h"
#include "fixedpoint/result.h"
#include "fixedpoint/validate.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace fixedpoint {
namespace {

/// Multipliers of a sum: two halves of 15 bits.
constexpr std::int32_t kMaxSumMultiplier = (std::int32_t{1} << 30);

/// A strided read of an input of one type into an output of another.
Result<Copy> decode_strided(const Program& program, const OperationRecord& operation, DType from,
                            DType to) {
  const auto* source = input_of(program, operation, 0);
  const auto& made = program.tensors[operation.output];
  if (source == nullptr || source->dtype != from || made.dtype != to) {
    return fail("its output has another size");
  }
  return decode_reads(operation, *source, elements(made));
}

}  // namespace

Result<Add> decode_add(const Program& program, const OperationRecord& operation) {
  const std::int64_t count = operation.attributes[0];
  if (!is_operand(program, operation, 0, count) || !is_operand(program, operation, 1, count) ||
      !is_output(program, operation, count)) {
    return fail("its operands have different sizes");
  }
  if (auto status = check_clamp(program, operation); !status) {
    return fail(status.error());
  }
  const auto& type = type_of(program, operation);
  for (const auto multiplier : operation.multipliers) {
    if (multiplier > kMaxSumMultiplier ||
        !is_safe(type, 0, multiplier, operation.bias, operation.shift)) {
      return fail("its sum may overflow");
    }
  }
  return Add{.count = count,
             .multipliers = operation.multipliers,
             .bias = operation.bias,
             .shift = operation.shift,
             .low = operation.low,
             .high = operation.high,
             .rounding = static_cast<Rounding>(operation.rounding)};
}

Result<Mul> decode_mul(const Program& program, const OperationRecord& operation) {
  const auto& a = operation.attributes;
  const auto count = product(std::span(a).first(3));
  const auto small = product(std::array{a[0], a[2]});
  if (count < 0 || !is_operand(program, operation, 0, count) ||
      !is_operand(program, operation, 1, small) || !is_output(program, operation, count)) {
    return fail("its operands do not fit each other");
  }
  const auto& type = type_of(program, operation);
  if (!type.has_zero_point(a[3]) || !type.has_zero_point(a[4])) {
    return fail("a zero point of its operands is none of its type");
  }
  const auto requantize = decode_requantize(program, operation, type.span * type.span);
  if (!requantize) {
    return fail(requantize.error());
  }
  return Mul{.outer = a[0],
             .rows = a[1],
             .inner = a[2],
             .zero_point_a = a[3],
             .zero_point_b = a[4],
             .requantize = *requantize};
}

Result<Table> decode_table(const Program& program, const OperationRecord& operation) {
  const auto& type = type_of(program, operation);
  const std::int64_t count = operation.attributes[0];
  const auto* table = input_of(program, operation, 1);
  if (!is_operand(program, operation, 0, count) || !is_output(program, operation, count) ||
      !is_constant(table, type.dtype, type.table_entries)) {
    return fail("it has no table of its type's size, or its operands have different sizes");
  }
  return Table{.count = count, .entries = program.constant(*table)};
}

Result<Copy> decode_copy(const Program& program, const OperationRecord& operation) {
  const auto dtype = type_of(program, operation).dtype;
  return decode_strided(program, operation, dtype, dtype);
}

Result<Boundary> decode_boundary(const Program& program, const OperationRecord& operation) {
  const bool is_quantize = operation.kind == Kind::kQuantize;
  const auto& type = type_of(program, operation);
  const auto read = is_quantize ? decode_strided(program, operation, DType::kFloat32, type.dtype)
                                : decode_strided(program, operation, type.dtype, DType::kFloat32);
  if (!read) {
    return fail(read.error());
  }
  if (auto status = check_clamp(program, operation); !status) {
    return fail(status.error());
  }
  const auto factor = std::bit_cast<float>(operation.attributes[15]);
  const int zero_point = operation.attributes[14];
  if (!(factor > 0) || !std::isfinite(factor) || !type.has_zero_point(zero_point)) {
    return fail("its scale is not positive, or its zero point none of its type");
  }
  return Boundary{.read = *read,
                  .factor = factor,
                  .zero_point = zero_point,
                  .low = operation.low,
                  .high = operation.high};
}

Result<std::int64_t> decode_concat(const Program& program, const OperationRecord& operation) {
  const std::int64_t outer = operation.attributes[0];
  std::int64_t total = 0;
  for (std::size_t i = 0; i < operation.input_count; ++i) {
    const auto* part = input_of(program, operation, i);
    if (part == nullptr || !is_operand(program, operation, i, elements(*part)) || outer < 1 ||
        elements(*part) % outer != 0) {
      return fail("an input does not divide into its slices");
    }
    total += elements(*part);
  }
  if (total < 1 || !is_output(program, operation, total)) {
    return fail("its output has another size than its inputs together");
  }
  return outer;
}

}  // namespace fixedpoint
