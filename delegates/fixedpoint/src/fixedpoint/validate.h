#pragma once

#include "fixedpoint/format.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/program.h"
#include "fixedpoint/result.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace fixedpoint {

constexpr std::int64_t kMaxAccumulator = (std::int64_t{1} << 31) - 1;
/// Largest size of one dimension of a window.
constexpr std::int32_t kMaxSize = 1 << 24;

/// What decoders ask of records that nobody has checked yet. None of these trusts a number.

/// The input at a position; null where there is none.
const TensorRecord* input_of(const Program& program, const OperationRecord& operation,
                             std::size_t position);

std::int64_t elements(const TensorRecord& tensor);

/// Whether it is there and holds `count` int8.
bool is_int8(const TensorRecord* tensor, std::int64_t count);
bool is_constant(const TensorRecord* tensor, DType dtype, std::int64_t count);
/// Whether the operation's output holds `count` int8.
bool is_output(const Program& program, const OperationRecord& operation, std::int64_t count);

/// A constant's content.
template <class T>
const T* content(const Program& program, const TensorRecord* tensor) {
  return reinterpret_cast<const T*>(program.constant(*tensor));
}

/// The product, or -1 when a factor is not positive or it is larger than any tensor.
std::int64_t product(std::span<const std::int32_t> factors);

/// That the bounds are a range of int8, and the rounding one that the kind has.
Status check_clamp(const OperationRecord& operation);

/// Whether (accumulator * multiplier + bias) >> shift stays within 64 bits.
bool is_safe(std::int64_t largest, std::int64_t multiplier, std::int64_t bias, int shift);

/// The requantization in the record, for accumulators of at most `largest`.
Result<Requantize> decode_requantize(const OperationRecord& operation, std::int64_t largest);

/// That each window touches the input, and that the tensors have the window's sizes.
Status check_image(const Program& program, const OperationRecord& operation, const Window& window);

}  // namespace fixedpoint
