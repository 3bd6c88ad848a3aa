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

/// Whether each window touches the input, so that padding is never more than a window.
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
  if (w.padding_value < -128 || w.padding_value > 127) {
    return fail("its padding is no int8");
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

bool is_int8(const TensorRecord* tensor, std::int64_t count) {
  return tensor != nullptr && tensor->dtype == DType::kInt8 && elements(*tensor) == count;
}

bool is_constant(const TensorRecord* tensor, DType dtype, std::int64_t count) {
  return tensor != nullptr && tensor->place == Place::kConstant && tensor->dtype == dtype &&
         elements(*tensor) == count;
}

bool is_output(const Program& program, const OperationRecord& operation, std::int64_t count) {
  return is_int8(&program.tensors[operation.output], count);
}

Status check_clamp(const OperationRecord& operation) {
  if (operation.low < -128 || operation.high > 127 || operation.low > operation.high) {
    return fail("its bounds are no range of int8");
  }
  const bool is_known =
      operation.rounding == static_cast<int>(Rounding::kHalfUp) ||
      (operation.rounding == static_cast<int>(Rounding::kHalfEven) && may_round(operation.kind));
  return is_known ? Status{} : fail("this runtime does not know its rounding");
}

bool is_safe(std::int64_t largest, std::int64_t multiplier, std::int64_t bias, int shift) {
  return largest <= kMaxAccumulator && multiplier >= 0 && multiplier <= kMaxAccumulator &&
         shift >= 1 && shift <= kMaxShift && bias <= kMaxBias && bias >= -kMaxBias;
}

Result<Requantize> decode_requantize(const OperationRecord& operation, std::int64_t largest) {
  if (auto status = check_clamp(operation); !status) {
    return fail(status.error());
  }
  if (!is_safe(largest, operation.multipliers[0], operation.bias, operation.shift)) {
    return fail("its requantization may overflow");
  }
  return Requantize{.multiplier = operation.multipliers[0],
                    .bias = operation.bias,
                    .shift = operation.shift,
                    .low = operation.low,
                    .high = operation.high,
                    .rounding = static_cast<Rounding>(operation.rounding)};
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
  if (!is_int8(input_of(program, operation, 0), in_elements(w)) ||
      !is_output(program, operation, out_elements(w))) {
    return fail("its window does not fit its tensors");
  }
  return {};
}

}  // namespace fixedpoint
