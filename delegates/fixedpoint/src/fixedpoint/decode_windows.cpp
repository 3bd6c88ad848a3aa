#include "fixedpoint/decode.h"
#include "fixedpoint/format.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/program.h"
#include "fixedpoint/result.h"
#include "fixedpoint/validate.h"
#include "fixedpoint/weight_sums.h"

#include <array>
#include <cstdint>
#include <string>

namespace fixedpoint {
namespace {

/// Proves for each output channel that neither the accumulator nor the product overflows.
Status check_channels(const Conv2d& conv, const ElementType& type) {
  const std::int64_t depth = conv.window.depth();
  for (int channel = 0; channel < conv.window.out_channels; ++channel) {
    const std::int64_t sum = sum_weights(conv.weights + channel * depth, depth).magnitude;
    if (!is_safe(type, -type.low * sum, conv.multipliers[channel], conv.biases[channel],
                 conv.shifts[channel])) {
      return fail("its channel " + std::to_string(channel) + " may overflow");
    }
  }
  return {};
}

/// Those of int16 are interpolated by themselves.
bool may_have_table(const ElementType& type, const TensorRecord* table) {
  return type.dtype == DType::kInt8 && is_constant(table, DType::kInt8, type.table_entries);
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

}  // namespace

Result<Conv2d> decode_conv2d(const Program& program, const OperationRecord& operation) {
  Conv2d conv{.window = conv_window(operation.attributes),
              .low = operation.low,
              .high = operation.high,
              .rounding = static_cast<Rounding>(operation.rounding)};
  const Window& w = conv.window;
  for (auto status : {check_clamp(program, operation), check_image(program, operation, w)}) {
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
  const auto& type = type_of(program, operation);
  if (weights < 0 || weights > kMaxInt32 || !is_constant(weight, DType::kInt8, weights) ||
      !is_constant(multiplier, DType::kInt32, outputs) ||
      !is_constant(shift, DType::kUint8, outputs) || !is_constant(bias, DType::kInt64, outputs) ||
      (table != nullptr && !may_have_table(type, table))) {
    return fail("its constants do not fit its window");
  }
  conv.weights = content<std::int8_t>(program, weight);
  conv.multipliers = content<std::int32_t>(program, multiplier);
  conv.shifts = content<std::uint8_t>(program, shift);
  conv.biases = content<std::int64_t>(program, bias);
  conv.table = table != nullptr ? content<std::int8_t>(program, table) : nullptr;
  if (auto status = check_channels(conv, type); !status) {
    return fail(status.error());
  }
  return conv;
}

Result<AvgPool2d> decode_avg_pool2d(const Program& program, const OperationRecord& operation) {
  AvgPool2d pool{.window = pool_window(operation.attributes)};
  pool.window.padding_value = operation.attributes[12];
  if (auto status = check_image(program, operation, pool.window); !status) {
    return fail(status.error());
  }
  const auto taps = product(std::array{pool.window.kernel_height, pool.window.kernel_width});
  const auto& type = type_of(program, operation);
  const auto requantize =
      decode_requantize(program, operation, taps < 0 ? type.max_accumulator + 1 : -type.low * taps);
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
  for (auto status :
       {check_clamp(program, operation), check_image(program, operation, pool.window)}) {
    if (!status) {
      return fail(status.error());
    }
  }
  return pool;
}

}  // namespace fixedpoint
