#include "fixedpoint/decode.h"
#include "fixedpoint/embedding.h"
#include "fixedpoint/format.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/program.h"
#include "fixedpoint/result.h"
#include "fixedpoint/validate.h"

#include <cstdint>
#include <string>
#include <utility>

namespace fixedpoint {
namespace {

/// Magnitude of the smallest value of a table.
constexpr std::int64_t kLargest = 128;

bool is_index_type(DType dtype) { return dtype == DType::kInt32 || dtype == DType::kInt64; }

/// Positions of the sizes among the attributes, behind those of the read.
constexpr int kRowsAt = 14;
constexpr int kColumnsAt = 15;

/// Takes the numbers of the rows, which are as many as the table has.
Status add_constants(const Program& program, const OperationRecord& operation, Embedding& op) {
  const auto* table = input_of(program, operation, 1);
  const auto* multiplier = input_of(program, operation, 2);
  const auto* shift = input_of(program, operation, 3);
  const auto* bias = input_of(program, operation, 4);
  if (!is_constant(table, DType::kInt8, op.rows * op.columns) ||
      !is_constant(multiplier, DType::kInt32, op.rows) ||
      !is_constant(shift, DType::kUint8, op.rows) || !is_constant(bias, DType::kInt64, op.rows)) {
    return fail("its constants do not fit its table");
  }
  op.table = content<std::int8_t>(program, table);
  op.multipliers = content<std::int32_t>(program, multiplier);
  op.shifts = content<std::uint8_t>(program, shift);
  op.biases = content<std::int64_t>(program, bias);
  return {};
}

/// True if (w * m + B) >> s is w for each value w of int8 that the bounds allow.
bool keeps_values(const Requantize& r) {
  const std::int64_t one = std::int64_t{1} << r.shift;
  return r.multiplier == one && r.bias >= 0 && r.bias < one && r.low == -128 && r.high == 127;
}

Status check_rows(const ElementType& type, Embedding& op) {
  op.is_plain = true;
  for (std::int64_t row = 0; row < op.rows; ++row) {
    const Requantize numbers = numbers_of(op, row);
    if (!is_safe(type, kLargest, numbers.multiplier, numbers.bias, numbers.shift)) {
      return fail("its row " + std::to_string(row) + " may overflow");
    }
    op.is_plain = op.is_plain && keeps_values(numbers);
  }
  return {};
}

/// Indices that are constants are checked once, those of an input at each call.
Status check_constant_indices(const Program& program, const TensorRecord& indices,
                              const Embedding& op) {
  if (indices.place == Place::kInput) {
    return {};
  }
  if (indices.place != Place::kConstant) {
    return fail("its indices are neither an input of the program nor a constant");
  }
  auto invalid = find_invalid_index(op, program.constant(indices));
  return invalid.empty() ? Status{} : fail(std::move(invalid));
}

}  // namespace

Result<Embedding> decode_embedding(const Program& program, const OperationRecord& operation) {
  if (auto status = check_clamp(program, operation); !status) {
    return fail(status.error());
  }
  const auto* indices = input_of(program, operation, 0);
  if (indices == nullptr || !is_index_type(indices->dtype)) {
    return fail("its indices are neither int32 nor int64");
  }
  Embedding op{.index_type = indices->dtype,
               .rows = operation.attributes[kRowsAt],
               .columns = operation.attributes[kColumnsAt],
               .low = operation.low,
               .high = operation.high};
  const auto made = elements(program.tensors[operation.output]);
  if (op.rows < 1 || op.columns < 1 || made % op.columns != 0 ||
      !is_output(program, operation, made)) {
    return fail("its rows do not fit its output");
  }
  if (auto status = add_constants(program, operation, op); !status) {
    return fail(status.error());
  }
  const auto read = decode_reads(operation, *indices, made / op.columns);
  if (!read) {
    return fail(read.error());
  }
  op.read = *read;
  if (auto status = check_rows(type_of(program, operation), op); !status) {
    return fail(status.error());
  }
  if (auto status = check_constant_indices(program, *indices, op); !status) {
    return fail(status.error());
  }
  return op;
}

}  // namespace fixedpoint
