#pragma once

#include "fixedpoint/format.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/program.h"
#include "fixedpoint/result.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace fixedpoint {

/// Limits that depend on the type of an operation's activations.
struct ElementType {
  DType dtype;
  int low;
  int high;
  /// Range of zero points and of padding values.
  int least_zero_point;
  int most_zero_point;
  /// The largest distance of a value to a zero point.
  std::int64_t span;
  std::int64_t max_accumulator;
  int min_shift;
  /// Entries of the table of a unary function, and of a softmax's exponentials.
  std::int64_t table_entries;
  std::int64_t exponential_entries;

  bool holds(std::int32_t value) const { return value >= low && value <= high; }
  bool has_zero_point(std::int32_t value) const {
    return value >= least_zero_point && value <= most_zero_point;
  }
};

/// The one type of an operation: what it makes, or what it dequantizes. int8 where it is neither.
const ElementType& type_of(const Program& program, const OperationRecord& operation);

/// Largest normalized value of a layer norm, and of anything that a multiplier is.
constexpr std::int64_t kMaxInt32 = (std::int64_t{1} << 31) - 1;
/// Largest size of one dimension of a window.
constexpr std::int32_t kMaxSize = 1 << 24;

/// Checks that decoders make on unchecked records. None of these trusts a number.

/// The input at a position; null if there is none.
const TensorRecord* input_of(const Program& program, const OperationRecord& operation,
                             std::size_t position);

std::int64_t elements(const TensorRecord& tensor);

/// True if the input is there and holds `count` activations of the operation's type.
bool is_operand(const Program& program, const OperationRecord& operation, std::size_t position,
                std::int64_t count);
bool is_constant(const TensorRecord* tensor, DType dtype, std::int64_t count);
/// True if the operation's output holds `count` activations of its type.
bool is_output(const Program& program, const OperationRecord& operation, std::int64_t count);

/// A constant's content.
template <class T>
const T* content(const Program& program, const TensorRecord* tensor) {
  return reinterpret_cast<const T*>(program.constant(*tensor));
}

/// The product, or -1 when a factor is not positive or it is larger than any tensor.
std::int64_t product(std::span<const std::int32_t> factors);

/// That the bounds are a range of the type, and the rounding one that the kind has.
Status check_clamp(const Program& program, const OperationRecord& operation);

/// True if (accumulator * multiplier + bias) >> shift stays within the type's arithmetic.
bool is_safe(const ElementType& type, std::int64_t largest, std::int64_t multiplier,
             std::int64_t bias, int shift);

/// The requantization in the record, for accumulators of at most `largest`.
Result<Requantize> decode_requantize(const Program& program, const OperationRecord& operation,
                                     std::int64_t largest);

/// The strided read that the attributes begin with, of `count` elements, all within `source`.
Result<Copy> decode_reads(const OperationRecord& operation, const TensorRecord& source,
                          std::int64_t count);

/// That each window touches the input, and that the tensors have the window's sizes.
Status check_image(const Program& program, const OperationRecord& operation, const Window& window);

}  // namespace fixedpoint
