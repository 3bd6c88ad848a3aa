#include "fixedpoint/validate.h"

#include "fixedpoint/format.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/program.h"
#include "fixedpoint/result.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace fixedpoint {
namespace {

constexpr int kMaxShift = 62;
constexpr std::int64_t kMaxBias = std::int64_t{1} << 62;
constexpr std::int64_t kMaxElements = std::int64_t{1} << 40;

constexpr ElementType kEightBits = {.dtype = DType::kInt8,
                                    .low = -128,
                                    .high = 127,
                                    .least_zero_point = -128,
                                    .most_zero_point = 127,
                                    .span = 255,
                                    .max_accumulator = kMaxInt32,
                                    .min_shift = 1,
                                    .table_entries = 256,
                                    .exponential_entries = 256};
/// Zero points are 0; accumulators have 48 bits.
constexpr ElementType kSixteenBits = {.dtype = DType::kInt16,
                                      .low = -32768,
                                      .high = 32767,
                                      .least_zero_point = 0,
                                      .most_zero_point = 0,
                                      .span = 32768,
                                      .max_accumulator = (std::int64_t{1} << 47) - 1,
                                      .min_shift = 16,
                                      .table_entries = 513,
                                      .exponential_entries = 512};

/// Kinds that the mode of rounding is for.
bool may_round(Kind kind) {
  return kind == Kind::kConv2d || kind == Kind::kAdd || kind == Kind::kMul ||
         kind == Kind::kAvgPool2d || kind == Kind::kMatmul;
}

/// Sizes of windows are small enough that positions in them are sums of ints.
bool are_sizes(std::span<const std::int32_t> values) {
  return std::ranges::all_of(values,
                             [](std::int32_t value) { return value >= 1 && value <= kMaxSize; });
}

/// True if each window touches the input, so that padding is never more than a window.
bool is_reachable(int in, int out, int kernel, int stride, int pad, int dilation) {
  if (pad < 0) {
    return false;
  }
  const std::int64_t reach = std::int64_t{dilation} * (kernel - 1) + 1;
  const std::int64_t last = std::int64_t{out - 1} * stride - pad;
  return pad < reach && last < in && reach <= kMaxSize;
}

Status check_window(const Window& w) {
  const std::array sizes = {w.batch,          w.in_height,     w.in_width,     w.in_channels,
                            w.out_height,     w.out_width,     w.out_channels, w.kernel_height,
                            w.kernel_width,   w.stride_height, w.stride_width, w.dilation_height,
                            w.dilation_width, w.groups};
  if (!are_sizes(sizes) || w.in_channels % w.groups != 0 || w.out_channels % w.groups != 0) {
    return fail("a size of its window is not positive, or its groups do not divide its channels");
  }
  if (!is_reachable(w.in_height, w.out_height, w.kernel_height, w.stride_height, w.pad_top,
                    w.dilation_height) ||
      !is_reachable(w.in_width, w.out_width, w.kernel_width, w.stride_width, w.pad_left,
                    w.dilation_width)) {
    return fail("its windows leave its input");
  }
  const auto taps = product(std::array{w.kernel_height, w.kernel_width});
  if (taps < 0 || taps > kMaxSize) {
    return fail("its windows are too large");
  }
  return {};
}

std::int64_t in_elements(const Window& w) {
  return product(std::array{w.batch, w.in_height, w.in_width, w.in_channels});
}

std::int64_t out_elements(const Window& w) {
  return product(std::array{w.batch, w.out_height, w.out_width, w.out_channels});
}

}  // namespace

const TensorRecord* input_of(const Program& program, const OperationRecord& operation,
                             std::size_t position) {
  const auto inputs = program.inputs_of(operation);
  if (position >= inputs.size() || inputs[position] == kAbsent) {
    return nullptr;
  }
  return &program.tensors[inputs[position]];
}

std::int64_t elements(const TensorRecord& tensor) {
  std::int64_t count = 1;
  for (int i = 0; i < tensor.rank; ++i) {
    count *= tensor.dims[i];
  }
  return count;
}

const ElementType& type_of(const Program& program, const OperationRecord& operation) {
  const auto* tensor = operation.kind == Kind::kDequantize ? input_of(program, operation, 0)
                                                           : &program.tensors[operation.output];
  return tensor != nullptr && tensor->dtype == DType::kInt16 ? kSixteenBits : kEightBits;
}

bool is_operand(const Program& program, const OperationRecord& operation, std::size_t position,
                std::int64_t count) {
  const auto* tensor = input_of(program, operation, position);
  return tensor != nullptr && tensor->dtype == type_of(program, operation).dtype &&
         elements(*tensor) == count;
}

bool is_constant(const TensorRecord* tensor, DType dtype, std::int64_t count) {
  return tensor != nullptr && tensor->place == Place::kConstant && tensor->dtype == dtype &&
         elements(*tensor) == count;
}

bool is_output(const Program& program, const OperationRecord& operation, std::int64_t count) {
  const auto& made = program.tensors[operation.output];
  return made.dtype == type_of(program, operation).dtype && elements(made) == count;
}

Status check_clamp(const Program& program, const OperationRecord& operation) {
  const auto& type = type_of(program, operation);
  if (!type.holds(operation.low) || !type.holds(operation.high) || operation.low > operation.high) {
    return fail("its bounds are no range of its type");
  }
  const bool is_known =
      operation.rounding == static_cast<int>(Rounding::kHalfUp) ||
      (operation.rounding == static_cast<int>(Rounding::kHalfEven) && may_round(operation.kind));
  return is_known ? Status{} : fail("this runtime does not know its rounding");
}

bool is_safe(const ElementType& type, std::int64_t largest, std::int64_t multiplier,
             std::int64_t bias, int shift) {
  return largest <= type.max_accumulator && multiplier >= 0 && multiplier <= kMaxInt32 &&
         shift >= type.min_shift && shift <= kMaxShift && bias <= kMaxBias && bias >= -kMaxBias;
}

Result<Requantize> decode_requantize(const Program& program, const OperationRecord& operation,
                                     std::int64_t largest) {
  if (auto status = check_clamp(program, operation); !status) {
    return fail(status.error());
  }
  if (!is_safe(type_of(program, operation), largest, operation.multipliers[0], operation.bias,
               operation.shift)) {
    return fail("its requantization may overflow");
  }
  return Requantize{.multiplier = operation.multipliers[0],
                    .bias = operation.bias,
                    .shift = operation.shift,
                    .low = operation.low,
                    .high = operation.high,
                    .rounding = static_cast<Rounding>(operation.rounding)};
}

Result<Copy> decode_reads(const OperationRecord& operation, const TensorRecord& source,
                          std::int64_t count) {
  const auto& a = operation.attributes;
  Copy copy{.rank = a[0], .offset = a[1]};
  if (copy.rank < 1 || copy.rank > kMaxRank || copy.offset < 0) {
    return fail("it has no rank that this runtime copies");
  }
  if (product(std::span(a).subspan(2, copy.rank)) != count) {
    return fail("its output has another size");
  }
  std::int64_t last = copy.offset;
  for (int i = 0; i < copy.rank; ++i) {
    copy.dims[i] = a[2 + i];
    copy.strides[i] = a[8 + i];
    if (copy.strides[i] < 0) {
      return fail("it reads backwards");
    }
    last += (copy.dims[i] - 1) * copy.strides[i];
    if (last >= elements(source)) {
      return fail("it reads past the end of its input");
    }
  }
  return copy;
}

std::int64_t product(std::span<const std::int32_t> factors) {
  std::int64_t result = 1;
  for (const auto factor : factors) {
    if (factor < 1 || result > kMaxElements / factor) {
      return -1;
    }
    result *= factor;
  }
  return result;
}

Status check_image(const Program& program, const OperationRecord& operation, const Window& w) {
  if (auto status = check_window(w); !status) {
    return status;
  }
  if (!type_of(program, operation).has_zero_point(w.padding_value)) {
    return fail("its padding is no zero point of its type");
  }
  if (!is_operand(program, operation, 0, in_elements(w)) ||
      !is_output(program, operation, out_elements(w))) {
    return fail("its window does not fit its tensors");
  }
  return {};
}

}  // namespace fixedpoint
