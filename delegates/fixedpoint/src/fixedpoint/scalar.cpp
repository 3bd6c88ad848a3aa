#include "fixedpoint/kernels.h"
#include "fixedpoint/operations.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace fixedpoint {
namespace {

/// Calls `visit(offset)` for each tap of a window with the offset of its pixel in the input, -1
/// where it lies outside.
template <class Visit>
void for_each_tap(const Window& w, int image, int row, int column, Visit visit) {
  for (int i = 0; i < w.kernel_height; ++i) {
    const int y = row * w.stride_height - w.pad_top + i * w.dilation_height;
    for (int j = 0; j < w.kernel_width; ++j) {
      const int x = column * w.stride_width - w.pad_left + j * w.dilation_width;
      const bool is_inside = y >= 0 && y < w.in_height && x >= 0 && x < w.in_width;
      const std::int64_t pixel = (std::int64_t{image} * w.in_height + y) * w.in_width + x;
      visit(is_inside ? pixel * w.in_channels : -1);
    }
  }
}

/// Calls `visit(image, row, column, out)` for each output pixel.
template <class Visit>
void for_each_pixel(const Window& w, std::int8_t* out, Visit visit) {
  for (int image = 0; image < w.batch; ++image) {
    for (int row = 0; row < w.out_height; ++row) {
      for (int column = 0; column < w.out_width; ++column) {
        visit(image, row, column, out);
        out += w.out_channels;
      }
    }
  }
}

class ScalarConv : public ConvKernel {
 public:
  explicit ScalarConv(const Conv2d& conv)
      : conv_(conv),
        patch_(static_cast<std::size_t>(conv.window.taps()) * conv.window.in_channels) {}

  void run(const std::int8_t* in, std::int8_t* out) override {
    const Window& w = conv_.window;
    for_each_pixel(w, out, [&](int image, int row, int column, std::int8_t* pixel) {
      gather(in, image, row, column);
      for (int channel = 0; channel < w.out_channels; ++channel) {
        pixel[channel] = finish(channel, accumulate(channel));
      }
    });
  }

 private:
  /// All inputs of one output pixel: (taps, in_channels).
  void gather(const std::int8_t* in, int image, int row, int column) {
    const Window& w = conv_.window;
    std::int8_t* patch = patch_.data();
    for_each_tap(w, image, row, column, [&](std::int64_t offset) {
      if (offset < 0) {
        std::fill_n(patch, w.in_channels, static_cast<std::int8_t>(w.padding_value));
      } else {
        std::copy_n(in + offset, w.in_channels, patch);
      }
      patch += w.in_channels;
    });
  }

  std::int32_t accumulate(int channel) const {
    const Window& w = conv_.window;
    const int group = w.in_group();
    const std::int8_t* weights = conv_.weights + std::int64_t{channel} * w.depth();
    const std::int8_t* values = patch_.data() + channel / w.out_group() * group;
    std::int32_t sum = 0;
    for (int tap = 0; tap < w.taps(); ++tap) {
      for (int i = 0; i < group; ++i) {
        sum += weights[i] * values[i];
      }
      weights += group;
      values += w.in_channels;
    }
    return sum;
  }

  std::int8_t finish(int channel, std::int32_t sum) const {
    const Requantize requantize{.multiplier = conv_.multipliers[channel],
                                .bias = conv_.biases[channel],
                                .shift = conv_.shifts[channel],
                                .low = conv_.low,
                                .high = conv_.high,
                                .rounding = conv_.rounding};
    const std::int8_t value = requantize(sum);
    return conv_.table == nullptr ? value : conv_.table[value + 128];
  }

  Conv2d conv_;
  std::vector<std::int8_t> patch_;
};

std::unique_ptr<ConvKernel> make_conv2d(const Conv2d& conv) {
  return std::make_unique<ScalarConv>(conv);
}

void add(const Add& op, const std::int8_t* a, const std::int8_t* b, std::int8_t* out) {
  const std::int64_t multiplier_a = op.multipliers[0];
  const std::int64_t multiplier_b = op.multipliers[1];
  for (std::int64_t i = 0; i < op.count; ++i) {
    const std::int64_t value =
        shift_right(a[i] * multiplier_a + b[i] * multiplier_b + op.bias, op.shift, op.rounding);
    out[i] =
        static_cast<std::int8_t>(std::clamp(value, std::int64_t{op.low}, std::int64_t{op.high}));
  }
}

void mul(const Mul& op, const std::int8_t* a, const std::int8_t* b, std::int8_t* out) {
  for (int i = 0; i < op.outer; ++i) {
    for (int row = 0; row < op.rows; ++row) {
      for (int j = 0; j < op.inner; ++j) {
        out[j] = op.requantize((a[j] - op.zero_point_a) * (b[j] - op.zero_point_b));
      }
      a += op.inner;
      out += op.inner;
    }
    b += op.inner;
  }
}

void avg_pool2d(const AvgPool2d& op, const std::int8_t* in, std::int8_t* out) {
  const Window& w = op.window;
  for_each_pixel(w, out, [&](int image, int row, int column, std::int8_t* pixel) {
    for (int channel = 0; channel < w.in_channels; ++channel) {
      std::int32_t sum = 0;
      for_each_tap(w, image, row, column, [&](std::int64_t offset) {
        sum += offset < 0 ? w.padding_value : in[offset + channel];
      });
      pixel[channel] = op.requantize(sum);
    }
  });
}

void max_pool2d(const MaxPool2d& op, const std::int8_t* in, std::int8_t* out) {
  const Window& w = op.window;
  for_each_pixel(w, out, [&](int image, int row, int column, std::int8_t* pixel) {
    std::fill_n(pixel, w.in_channels, static_cast<std::int8_t>(op.low));
    for_each_tap(w, image, row, column, [&](std::int64_t offset) {
      for (int channel = 0; offset >= 0 && channel < w.in_channels; ++channel) {
        pixel[channel] = std::max(pixel[channel], in[offset + channel]);
      }
    });
    for (int channel = 0; channel < w.in_channels; ++channel) {
      pixel[channel] = std::min(pixel[channel], static_cast<std::int8_t>(op.high));
    }
  });
}

void table(const std::int8_t* results, std::int64_t count, const std::int8_t* in,
           std::int8_t* out) {
  for (std::int64_t i = 0; i < count; ++i) {
    out[i] = results[in[i] + 128];
  }
}

bool is_supported() { return true; }

}  // namespace

const Kernels& scalar_kernels() {
  static constexpr Kernels kKernels = {.isa = "scalar",
                                       .is_supported = is_supported,
                                       .make_conv2d = make_conv2d,
                                       .add = add,
                                       .mul = mul,
                                       .avg_pool2d = avg_pool2d,
                                       .max_pool2d = max_pool2d,
                                       .table = table};
  return kKernels;
}

}  // namespace fixedpoint
