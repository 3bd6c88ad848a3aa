#pragma once

#include "fixedpoint/format.h"

#include <array>
#include <cstdint>
#include <memory>

namespace fixedpoint {

class Scratch;

/// value >> shift, half of 2^shift being in the value; kHalfEven makes what was a tie even.
inline std::int64_t shift_right(std::int64_t value, int shift, Rounding rounding) {
  const std::int64_t shifted = value >> shift;
  const bool is_tie = (value & ((std::int64_t{1} << shift) - 1)) == 0;
  return rounding == Rounding::kHalfEven && is_tie ? shifted & ~std::int64_t{1} : shifted;
}

/// y = clamp((accumulator * multiplier + bias) >> shift, low, high), in 64 bits: for activations of
/// 8 bits. `requantize_wide` is for those of 16, with the same numbers.
struct Requantize {
  std::int64_t multiplier = 0;
  std::int64_t bias = 0;
  int shift = 1;
  int low = -128;
  int high = 127;
  Rounding rounding = Rounding::kHalfUp;

  std::int8_t operator()(std::int64_t accumulator) const {
    const std::int64_t value = shift_right(accumulator * multiplier + bias, shift, rounding);
    return static_cast<std::int8_t>(value < low ? low : (value > high ? high : value));
  }
};

/// Requantizes for activations of 16 bits as if in unlimited integers: accumulators lie below 2^47,
/// shifts are 16 or more. Accumulator and bias are taken apart at 16 bits; the sum is
/// above * 2^16 + below modulo 2^16.
inline std::int16_t requantize_wide(const Requantize& op, std::int64_t accumulator) {
  constexpr std::int64_t kMask = 0xFFFF;
  const std::int64_t below = (accumulator & kMask) * op.multiplier + (op.bias & kMask);
  const std::int64_t above = (accumulator >> 16) * op.multiplier + (op.bias >> 16) + (below >> 16);
  // The bits below decide about ties only: with any of them set there is no tie.
  const bool may_be_tie = (below & kMask) == 0;
  const auto rounding = may_be_tie ? op.rounding : Rounding::kHalfUp;
  const std::int64_t value = shift_right(above, op.shift - 16, rounding);
  return static_cast<std::int16_t>(value < op.low ? op.low : (value > op.high ? op.high : value));
}

/// Sizes in elements of a window that slides over (batch, height, width, channels).
struct Window {
  int batch = 0;
  int in_height = 0;
  int in_width = 0;
  int in_channels = 0;
  int out_height = 0;
  int out_width = 0;
  int out_channels = 0;
  int kernel_height = 1;
  int kernel_width = 1;
  int stride_height = 1;
  int stride_width = 1;
  int pad_top = 0;
  int pad_left = 0;
  int dilation_height = 1;
  int dilation_width = 1;
  int groups = 1;
  /// Value outside of the input.
  int padding_value = 0;

  int taps() const { return kernel_height * kernel_width; }
  int in_group() const { return in_channels / groups; }
  int out_group() const { return out_channels / groups; }
  /// Products that are added for one output.
  int depth() const { return taps() * in_group(); }
  std::int64_t out_pixels() const { return std::int64_t{batch} * out_height * out_width; }
  /// True if there is one window an image, and it is the image.
  bool is_whole_image() const {
    return kernel_height == in_height && kernel_width == in_width && out_height == 1 &&
           out_width == 1 && pad_top == 0 && pad_left == 0;
  }
};

/// A convolution, its constants as they lie in the blob.
///
/// weights: (out_channels, kernel_height, kernel_width, in_channels / groups). multiplier, shift,
/// bias: one an output channel. table: 256 results by clamped value + 128, or null, as with int16.
struct Conv2d {
  Window window;
  const std::int8_t* weights = nullptr;
  const std::int32_t* multipliers = nullptr;
  const std::uint8_t* shifts = nullptr;
  const std::int64_t* biases = nullptr;
  const std::int8_t* table = nullptr;
  /// Shared with other convolutions that never run at the same time; null: it has memory of its
  /// own.
  std::shared_ptr<Scratch> scratch = nullptr;
  int low = -128;
  int high = 127;
  Rounding rounding = Rounding::kHalfUp;
};

/// The requantization of one output channel.
inline Requantize numbers_of(const Conv2d& conv, int channel) {
  return {.multiplier = conv.multipliers[channel],
          .bias = conv.biases[channel],
          .shift = conv.shifts[channel],
          .low = conv.low,
          .high = conv.high,
          .rounding = conv.rounding};
}

/// Computes clamp((a * multiplier_a + b * multiplier_b + bias) >> shift).
struct Add {
  std::int64_t count = 0;
  std::array<std::int32_t, 2> multipliers = {};
  std::int64_t bias = 0;
  int shift = 1;
  int low = -128;
  int high = 127;
  Rounding rounding = Rounding::kHalfUp;
};

/// Products of a (outer, rows, inner) and b (outer, 1, inner).
struct Mul {
  int outer = 0;
  int rows = 0;
  int inner = 0;
  int zero_point_a = 0;
  int zero_point_b = 0;
  Requantize requantize;
};

struct AvgPool2d {
  Window window;
  Requantize requantize;
};

struct MaxPool2d {
  Window window;
  int low = -128;
  int high = 127;
};

/// entries: 256 results of int8, or 513 of int16 that are interpolated.
struct Table {
  std::int64_t count = 0;
  const void* entries = nullptr;
};

struct Copy {
  int rank = 1;
  std::int64_t offset = 0;
  std::array<std::int64_t, kMaxRank> dims = {};
  std::array<std::int64_t, kMaxRank> strides = {};
};

/// Conversion at the boundary, in float32: x * factor rounded half to even plus zero_point,
/// clamped; or (x - zero_point) * factor. NaN becomes `low`.
struct Boundary {
  Copy read;
  float factor = 1;
  int zero_point = 0;
  int low = -128;
  int high = 127;
};

}  // namespace fixedpoint
