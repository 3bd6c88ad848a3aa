#include "fixedpoint/kernels.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/transformer.h"
#include "fixedpoint/transformer16.h"
#include "fixedpoint/window_taps.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace fixedpoint {
namespace {

/// Where products of T are added, and how the sum becomes a T again.
template <class T>
struct Arithmetic;
template <>
struct Arithmetic<std::int8_t> {
  using Sum = std::int32_t;
  static std::int8_t requantize(const Requantize& op, Sum sum) { return op(sum); }
};
template <>
struct Arithmetic<std::int16_t> {
  using Sum = std::int64_t;
  static std::int16_t requantize(const Requantize& op, Sum sum) { return requantize_wide(op, sum); }
};

template <class T>
using Sum = typename Arithmetic<T>::Sum;

template <class T>
class ScalarConv : public TypedConvKernel<T> {
 public:
  explicit ScalarConv(const Conv2d& conv)
      : conv_(conv),
        patch_(static_cast<std::size_t>(conv.window.taps()) * conv.window.in_channels) {}

  void run(const T* in, T* out) override {
    const Window& w = conv_.window;
    for_each_pixel(w, out, [&](int image, int row, int column, T* pixel) {
      gather_window(w, in, image, row, column, patch_.data());
      for (int channel = 0; channel < w.out_channels; ++channel) {
        pixel[channel] = finish(channel, accumulate(channel));
      }
    });
  }

 private:
  Sum<T> accumulate(int channel) const {
    const Window& w = conv_.window;
    const int group = w.in_group();
    const std::int8_t* weights = conv_.weights + std::int64_t{channel} * w.depth();
    const T* values = patch_.data() + channel / w.out_group() * group;
    Sum<T> sum = 0;
    for (int tap = 0; tap < w.taps(); ++tap) {
      for (int i = 0; i < group; ++i) {
        sum += weights[i] * values[i];
      }
      weights += group;
      values += w.in_channels;
    }
    return sum;
  }

  T finish(int channel, Sum<T> sum) const {
    const T value = Arithmetic<T>::requantize(numbers_of(conv_, channel), sum);
    return conv_.table == nullptr ? value : conv_.table[value + 128];
  }

  Conv2d conv_;
  std::vector<T> patch_;
};

template <class T>
std::unique_ptr<TypedConvKernel<T>> make_conv2d(const Conv2d& conv) {
  return std::make_unique<ScalarConv<T>>(conv);
}

template <class T>
void add(const Add& op, const T* a, const T* b, T* out) {
  const std::int64_t multiplier_a = op.multipliers[0];
  const std::int64_t multiplier_b = op.multipliers[1];
  for (std::int64_t i = 0; i < op.count; ++i) {
    const std::int64_t value =
        shift_right(a[i] * multiplier_a + b[i] * multiplier_b + op.bias, op.shift, op.rounding);
    out[i] = static_cast<T>(std::clamp(value, std::int64_t{op.low}, std::int64_t{op.high}));
  }
}

template <class T>
void mul(const Mul& op, const T* a, const T* b, T* out) {
  for (int i = 0; i < op.outer; ++i) {
    for (int row = 0; row < op.rows; ++row) {
      for (int j = 0; j < op.inner; ++j) {
        const Sum<T> product = Sum<T>{a[j] - op.zero_point_a} * (b[j] - op.zero_point_b);
        out[j] = Arithmetic<T>::requantize(op.requantize, product);
      }
      a += op.inner;
      out += op.inner;
    }
    b += op.inner;
  }
}

template <class T>
void avg_pool2d(const AvgPool2d& op, const T* in, T* out) {
  const Window& w = op.window;
  constexpr int kSome = 64;  // Channels that are added up at a time.
  for_each_pixel(w, out, [&](int image, int row, int column, T* pixel) {
    for (int first = 0; first < w.in_channels; first += kSome) {
      const int count = std::min(kSome, w.in_channels - first);
      std::array<Sum<T>, kSome> sums = {};
      for_each_tap(w, image, row, column, [&](std::int64_t offset) {
        for (int i = 0; i < count; ++i) {
          sums[i] += offset < 0 ? w.padding_value : in[offset + first + i];
        }
      });
      for (int i = 0; i < count; ++i) {
        pixel[first + i] = Arithmetic<T>::requantize(op.requantize, sums[i]);
      }
    }
  });
}

template <class T>
void max_pool2d(const MaxPool2d& op, const T* in, T* out) {
  const Window& w = op.window;
  for_each_pixel(w, out, [&](int image, int row, int column, T* pixel) {
    std::fill_n(pixel, w.in_channels, static_cast<T>(op.low));
    for_each_tap(w, image, row, column, [&](std::int64_t offset) {
      for (int channel = 0; offset >= 0 && channel < w.in_channels; ++channel) {
        pixel[channel] = std::max(pixel[channel], in[offset + channel]);
      }
    });
    for (int channel = 0; channel < w.in_channels; ++channel) {
      pixel[channel] = std::min(pixel[channel], static_cast<T>(op.high));
    }
  });
}

void table(const std::int8_t* results, std::int64_t count, const std::int8_t* in,
           std::int8_t* out) {
  for (std::int64_t i = 0; i < count; ++i) {
    out[i] = results[in[i] + 128];
  }
}

/// Between two neighbours of the 513 entries, by the lower 7 bits.
void interpolate(const std::int16_t* entries, std::int64_t count, const std::int16_t* in,
                 std::int16_t* out) {
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int16_t* entry = entries + 256 + (in[i] >> 7);
    const int slope = entry[1] - entry[0];
    out[i] = static_cast<std::int16_t>(entry[0] + ((slope * (in[i] & 127) + 64) >> 7));
  }
}

bool is_supported() { return true; }

}  // namespace

const Kernels16 kScalarKernels16 = {.make_conv2d = make_conv2d<std::int16_t>,
                                    .add = add<std::int16_t>,
                                    .mul = mul<std::int16_t>,
                                    .avg_pool2d = avg_pool2d<std::int16_t>,
                                    .max_pool2d = max_pool2d<std::int16_t>,
                                    .table = interpolate,
                                    .make_matmul = make_matmul16,
                                    .softmax = softmax,
                                    .layer_norm = layer_norm};

const Kernels& scalar_kernels() {
  static constexpr Kernels kKernels = {.isa = "scalar",
                                       .is_supported = is_supported,
                                       .make_conv2d = make_conv2d<std::int8_t>,
                                       .add = add<std::int8_t>,
                                       .mul = mul<std::int8_t>,
                                       .avg_pool2d = avg_pool2d<std::int8_t>,
                                       .max_pool2d = max_pool2d<std::int8_t>,
                                       .table = table};
  return kKernels;
}

}  // namespace fixedpoint
