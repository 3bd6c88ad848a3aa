#include "fixedpoint/conv_kernels.h"
#include "fixedpoint/kernels.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/packed_conv.h"
#include "fixedpoint/packed_kernel.h"
#include "fixedpoint/packed_weights.h"
#include "fixedpoint/window_walk.h"
#include "fixedpoint/workers.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace fixedpoint {
namespace {

template <class T>
class DepthwiseConv : public PackedKernel<T> {
  using Base = PackedKernel<T>;
  using Base::conv_;
  using Base::packed_;
  using Base::padded_;
  using Base::parts_;

 public:
  DepthwiseConv(const Conv2d& conv, const TypedDepthwiseUnit<T>& unit, TableFunction table,
                PackedWeights packed)
      : Base(conv, table, std::move(packed)), unit_(unit) {
    take_taps(1);
    const Window& w = conv_.window;
    for (int i = 0; i < w.kernel_height; ++i) {
      for (int j = 0; j < w.kernel_width; ++j) {
        offsets_.push_back((std::int64_t{i} * w.dilation_height * w.in_width +
                            std::int64_t{j} * w.dilation_width) *
                           w.in_channels);
      }
    }
  }

  void run(const T* in, T* out) override {
    run_share(in, out, {0, conv_.window.out_pixels()}, taps_.data());
  }

  int split(int parts) override {
    take_taps(this->take_parts(parts));
    return parts_;
  }

  void run_part(const T* in, T* out, int part) override {
    const Window& w = conv_.window;
    run_share(in, out, share_of(w.out_pixels(), part, parts_, w.out_width),
              taps_.data() + tap_count_ * part);
  }

 private:
  void take_taps(int parts) {
    tap_count_ = std::size_t(packed_.groups) * unit_.packing.group;
    taps_.assign(tap_count_ * parts, padded_.padding());
  }

  void run_share(const T* in, T* out, Share pixels, const T** taps) const {
    const Window& w = conv_.window;
    const TileNumbers channels = this->numbers(0);
    Pixel pixel(w, pixels.first);
    T* first = out + pixels.first * w.out_channels;
    for (std::int64_t i = pixels.first; i < pixels.end; ++i, pixel.next()) {
      find_taps(in, pixel, taps);
      unit_.convolve(taps, packed_.groups, packed_.tile_weights(0), channels, w.out_channels,
                     out + i * w.out_channels);
    }
    this->look_up((pixels.end - pixels.first) * w.out_channels, first);
  }

  void find_taps(const T* in, const Pixel& pixel, const T** taps) const {
    const Window& w = conv_.window;
    if (pixel.is_interior()) {
      const T* base = in + pixel.offset(pixel.top(), pixel.left());
      for (std::size_t tap = 0; tap < offsets_.size(); ++tap) {
        taps[tap] = base + offsets_[tap];
      }
      return;
    }
    std::size_t tap = 0;
    for (int i = 0; i < w.kernel_height; ++i) {
      const int y = pixel.top() + i * w.dilation_height;
      for (int j = 0; j < w.kernel_width; ++j) {
        const int x = pixel.left() + j * w.dilation_width;
        taps[tap++] = padded_.at(in, pixel, y, x);
      }
    }
  }

  const TypedDepthwiseUnit<T>& unit_;
  std::size_t tap_count_ = 0;
  /// Taps of each part. Those past the last tap stay on the padding; their weights are zero.
  std::vector<const T*> taps_;
  std::vector<std::int64_t> offsets_;
};

template <class T>
class DepthwiseRows : public PackedKernel<T> {
  using Base = PackedKernel<T>;
  using Base::conv_;
  using Base::packed_;
  using Base::padded_;
  using Base::parts_;

 public:
  DepthwiseRows(const Conv2d& conv, const TypedSlidingUnit<T>& unit, TableFunction table,
                PackedWeights packed)
      : Base(conv, table, std::move(packed)), unit_(unit) {}

  void run(const T* in, T* out) override {
    run_share(in, out, {0, std::int64_t{conv_.window.batch} * conv_.window.out_height});
  }

  int split(int parts) override { return this->take_parts(parts); }

  void run_part(const T* in, T* out, int part) override {
    const std::int64_t rows = std::int64_t{conv_.window.batch} * conv_.window.out_height;
    run_share(in, out, share_of(rows, part, parts_, 1));
  }

 private:
  void run_share(const T* in, T* out, Share rows) const {
    const Window& w = conv_.window;
    const TileNumbers channels = this->numbers(0);
    const std::int64_t row_values = std::int64_t{w.out_width} * w.out_channels;
    for (std::int64_t i = rows.first; i < rows.end; ++i) {
      T* place = out + i * row_values;
      unit_.convolve(find_row(in, i), w.stride_width, packed_.tile_weights(0), channels,
                     w.out_channels, place);
      this->look_up(row_values, place);
    }
  }

  TypedDepthwiseRow<T> find_row(const T* in, std::int64_t row) const {
    const Window& w = conv_.window;
    const Pixel pixel(w, row * w.out_width);
    TypedDepthwiseRow<T> found{.padding = padded_.padding(),
                               .in_width = w.in_width,
                               .first_column = -w.pad_left,
                               .out_width = w.out_width};
    for (int i = 0; i < w.kernel_height; ++i) {
      const int y = pixel.top() + i * w.dilation_height;
      found.rows[i] = padded_.at(in, pixel, y, 0);
      found.steps[i] = pixel.is_row_inside(y) ? w.in_channels : 0;
    }
    return found;
  }

  const TypedSlidingUnit<T>& unit_;
};

}  // namespace

template <class T>
std::unique_ptr<TypedConvKernel<T>> make_depthwise_conv(const Conv2d& conv,
                                                        const TypedDepthwiseUnit<T>& unit,
                                                        TableFunction table, PackedWeights packed) {
  return std::make_unique<DepthwiseConv<T>>(conv, unit, table, std::move(packed));
}

template std::unique_ptr<TypedConvKernel<std::int8_t>> make_depthwise_conv(
    const Conv2d&, const TypedDepthwiseUnit<std::int8_t>&, TableFunction, PackedWeights);
template std::unique_ptr<TypedConvKernel<std::int16_t>> make_depthwise_conv(
    const Conv2d&, const TypedDepthwiseUnit<std::int16_t>&, TableFunction, PackedWeights);

template <class T>
std::unique_ptr<TypedConvKernel<T>> make_depthwise_rows(const Conv2d& conv,
                                                        const TypedSlidingUnit<T>& unit,
                                                        TableFunction table, PackedWeights packed) {
  return std::make_unique<DepthwiseRows<T>>(conv, unit, table, std::move(packed));
}

template std::unique_ptr<TypedConvKernel<std::int8_t>> make_depthwise_rows(
    const Conv2d&, const TypedSlidingUnit<std::int8_t>&, TableFunction, PackedWeights);
template std::unique_ptr<TypedConvKernel<std::int16_t>> make_depthwise_rows(
    const Conv2d&, const TypedSlidingUnit<std::int16_t>&, TableFunction, PackedWeights);

}  // namespace fixedpoint
