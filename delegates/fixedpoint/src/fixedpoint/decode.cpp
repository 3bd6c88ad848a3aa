#include "fixedpoint/decode.h"

#include "fixedpoint/format.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/program.h"
#include "fixedpoint/result.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

namespace fixedpoint {
namespace {

constexpr int kMaxShift = 62;
constexpr std::int64_t kMaxAccumulator = (std::int64_t{1} << 31) - 1;
constexpr std::int64_t kMaxBias = std::int64_t{1} << 62;
constexpr std::int32_t kMaxSize = 1 << 24;
constexpr std::int64_t kMaxElements = std::int64_t{1} << 40;
/// Multipliers of a sum: two halves of 15 bits.
constexpr std::int32_t kMaxSumMultiplier = (std::int32_t{1} << 30);

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

/// The output, and no constant or input where it goes.
bool is_output(const Program& program, const OperationRecord& operation, std::int64_t count) {
  return is_int8(&program.tensors[operation.output], count);
}

template <class T>
const T* content(const Program& program, const TensorRecord* tensor) {
  return reinterpret_cast<const T*>(program.constant(*tensor));
}

Status check_clamp(const OperationRecord& operation) {
  if (operation.low < -128 || operation.high > 127 || operation.low > operation.high) {
    return fail("its bounds are no range of int8");
  }
  return operation.rounding == 0 ? Status{} : fail("this runtime does not know its rounding");
}

/// Whether (accumulator * multiplier + bias) >> shift stays within 64 bits.
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
                    .high = operation.high};
}

/// Sizes of windows are small enough that positions in them are sums of ints.
bool are_sizes(std::span<const std::int32_t> values) {
  return std::ranges::all_of(values,
                             [](std::int32_t value) { return value >= 1 && value <= kMaxSize; });
}

/// The product, or nothing when a factor is not positive or it is larger than any tensor.
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
  return {};
}

std::int64_t in_elements(const Window& w) {
  return product(std::array{w.batch, w.in_height, w.in_width, w.in_channels});
}

std::int64_t out_elements(const Window& w) {
  return product(std::array{w.batch, w.out_height, w.out_width, w.out_channels});
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

/// Proves for each output channel that neither the accumulator nor the product overflows.
Status check_channels(const Conv2d& conv) {
  const int depth = conv.window.depth();
  for (int channel = 0; channel < conv.window.out_channels; ++channel) {
    std::int64_t sum = 0;
    const auto* weights = conv.weights + std::int64_t{channel} * depth;
    for (int i = 0; i < depth; ++i) {
      sum += std::abs(static_cast<int>(weights[i]));
    }
    if (!is_safe(128 * sum, conv.multipliers[channel], conv.biases[channel],
                 conv.shifts[channel])) {
      return fail("its channel " + std::to_string(channel) + " may overflow");
    }
  }
  return {};
}

Window pool_window(const std::array<std::int32_t, 20>& a) {
  return {.batch = a[0],
          .in_height = a[1],
          .in_width = a[2],
          .in_channels = a[3],
          .out_height = a[4],
          .out_width = a[5],
          .out_channels = a[3],
          .kernel_height = a[6],
          .kernel_width = a[7],
          .stride_height = a[8],
          .stride_width = a[9],
          .pad_top = a[10],
          .pad_left = a[11]};
}

Window conv_window(const std::array<std::int32_t, 20>& a) {
  return {.batch = a[0],
          .in_height = a[1],
          .in_width = a[2],
          .in_channels = a[3],
          .out_height = a[4],
          .out_width = a[5],
          .out_channels = a[6],
          .kernel_height = a[7],
          .kernel_width = a[8],
          .stride_height = a[9],
          .stride_width = a[10],
          .pad_top = a[11],
          .pad_left = a[12],
          .dilation_height = a[13],
          .dilation_width = a[14],
          .groups = a[15],
          .padding_value = a[16]};
}

/// A strided read of an input of one type into an output of another.
Result<Copy> decode_strided(const Program& program, const OperationRecord& operation, DType from,
                            DType to) {
  const auto& a = operation.attributes;
  Copy copy{.rank = a[0], .offset = a[1]};
  if (copy.rank < 1 || copy.rank > kMaxRank || copy.offset < 0) {
    return fail("it has no rank that this runtime copies");
  }
  const auto count = product(std::span(a).subspan(2, copy.rank));
  const auto* source = input_of(program, operation, 0);
  const auto& made = program.tensors[operation.output];
  if (count < 0 || source == nullptr || source->dtype != from || made.dtype != to ||
      elements(made) != count) {
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
    if (last >= elements(*source)) {
      return fail("it reads past the end of its input");
    }
  }
  return copy;
}

}  // namespace

Result<Conv2d> decode_conv2d(const Program& program, const OperationRecord& operation) {
  Conv2d conv{
      .window = conv_window(operation.attributes), .low = operation.low, .high = operation.high};
  const Window& w = conv.window;
  for (auto status : {check_clamp(operation), check_image(program, operation, w)}) {
    if (!status) {
      return fail(status.error());
    }
  }
  const auto weights = product(
      std::array{w.out_channels, w.kernel_height, w.kernel_width, w.in_channels / w.groups});
  const auto* weight = input_of(program, operation, 1);
  const auto* multiplier = input_of(program, operation, 2);
  const auto* shift = input_of(program, operation, 3);
  const auto* bias = input_of(program, operation, 4);
  const auto* table = input_of(program, operation, 5);
  const std::int64_t outputs = w.out_channels;
  if (weights < 0 || weights > kMaxAccumulator || !is_constant(weight, DType::kInt8, weights) ||
      !is_constant(multiplier, DType::kInt32, outputs) ||
      !is_constant(shift, DType::kUint8, outputs) || !is_constant(bias, DType::kInt64, outputs) ||
      (table != nullptr && !is_constant(table, DType::kInt8, 256))) {
    return fail("its constants do not fit its window");
  }
  conv.weights = content<std::int8_t>(program, weight);
  conv.multipliers = content<std::int32_t>(program, multiplier);
  conv.shifts = content<std::uint8_t>(program, shift);
  conv.biases = content<std::int64_t>(program, bias);
  conv.table = table != nullptr ? content<std::int8_t>(program, table) : nullptr;
  if (auto status = check_channels(conv); !status) {
    return fail(status.error());
  }
  return conv;
}

Result<Add> decode_add(const Program& program, const OperationRecord& operation) {
  const std::int64_t count = operation.attributes[0];
  if (!is_int8(input_of(program, operation, 0), count) ||
      !is_int8(input_of(program, operation, 1), count) || !is_output(program, operation, count)) {
    return fail("its operands have different sizes");
  }
  if (auto status = check_clamp(operation); !status) {
    return fail(status.error());
  }
  for (const auto multiplier : operation.multipliers) {
    if (multiplier > kMaxSumMultiplier ||
        !is_safe(0, multiplier, operation.bias, operation.shift)) {
      return fail("its sum may overflow");
    }
  }
  return Add{.count = count,
             .multipliers = operation.multipliers,
             .bias = operation.bias,
             .shift = operation.shift,
             .low = operation.low,
             .high = operation.high};
}

Result<Mul> decode_mul(const Program& program, const OperationRecord& operation) {
  const auto& a = operation.attributes;
  const auto count = product(std::span(a).first(3));
  const auto small = product(std::array{a[0], a[2]});
  if (count < 0 || !is_int8(input_of(program, operation, 0), count) ||
      !is_int8(input_of(program, operation, 1), small) || !is_output(program, operation, count)) {
    return fail("its operands do not fit each other");
  }
  for (const auto zero_point : {a[3], a[4]}) {
    if (zero_point < -128 || zero_point > 127) {
      return fail("a zero point of its operands is no int8");
    }
  }
  const auto requantize = decode_requantize(operation, 255 * 255);
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

Result<AvgPool2d> decode_avg_pool2d(const Program& program, const OperationRecord& operation) {
  AvgPool2d pool{.window = pool_window(operation.attributes)};
  pool.window.padding_value = operation.attributes[12];
  if (auto status = check_image(program, operation, pool.window); !status) {
    return fail(status.error());
  }
  const auto taps = product(std::array{pool.window.kernel_height, pool.window.kernel_width});
  const auto requantize = decode_requantize(operation, taps < 0 ? kMaxAccumulator + 1 : 128 * taps);
  if (!requantize) {
    return fail(requantize.error());
  }
  pool.requantize = *requantize;
  return pool;
}

Result<MaxPool2d> decode_max_pool2d(const Program& program, const OperationRecord& operation) {
  MaxPool2d pool{
      .window = pool_window(operation.attributes), .low = operation.low, .high = operation.high};
  pool.window.dilation_height = operation.attributes[12];
  pool.window.dilation_width = operation.attributes[13];
  for (auto status : {check_clamp(operation), check_image(program, operation, pool.window)}) {
    if (!status) {
      return fail(status.error());
    }
  }
  return pool;
}

Result<const std::int8_t*> decode_table(const Program& program, const OperationRecord& operation) {
  const std::int64_t count = operation.attributes[0];
  const auto* table = input_of(program, operation, 1);
  if (!is_int8(input_of(program, operation, 0), count) || !is_output(program, operation, count) ||
      !is_constant(table, DType::kInt8, 256)) {
    return fail("it has no table of 256 values, or its operands have different sizes");
  }
  return content<std::int8_t>(program, table);
}

Result<Copy> decode_copy(const Program& program, const OperationRecord& operation) {
  return decode_strided(program, operation, DType::kInt8, DType::kInt8);
}

Result<Boundary> decode_boundary(const Program& program, const OperationRecord& operation) {
  const bool is_quantize = operation.kind == Kind::kQuantize;
  const auto read = decode_strided(program, operation, is_quantize ? DType::kFloat32 : DType::kInt8,
                                   is_quantize ? DType::kInt8 : DType::kFloat32);
  if (!read) {
    return fail(read.error());
  }
  if (auto status = check_clamp(operation); !status) {
    return fail(status.error());
  }
  const auto factor = std::bit_cast<float>(operation.attributes[15]);
  const int zero_point = operation.attributes[14];
  if (!(factor > 0) || !std::isfinite(factor) || zero_point < -128 || zero_point > 127) {
    return fail("its scale is not positive, or its zero point no int8");
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
    if (part == nullptr || part->dtype != DType::kInt8 || outer < 1 ||
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
