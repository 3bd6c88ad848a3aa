#pragma once

#include "fixedpoint/operations.h"

#include <cstdint>
#include <vector>

namespace fixedpoint {

/// True if the windows' matrix is the input as it lies.
inline bool is_pointwise(const Window& w) {
  return w.taps() == 1 && w.stride_height == 1 && w.stride_width == 1 && w.pad_top == 0 &&
         w.pad_left == 0 && w.in_height == w.out_height && w.in_width == w.out_width;
}

/// Walks over output pixels in their order.
class Pixel {
 public:
  explicit Pixel(const Window& window, std::int64_t first = 0)
      : w_(window),
        image_(static_cast<int>(first / (std::int64_t{w_.out_height} * w_.out_width))),
        row_(static_cast<int>(first / w_.out_width % w_.out_height)),
        column_(static_cast<int>(first % w_.out_width)) {}

  void next() {
    if (++column_ == w_.out_width) {
      column_ = 0;
      if (++row_ == w_.out_height) {
        row_ = 0;
        ++image_;
      }
    }
  }
  int image() const { return image_; }
  int column() const { return column_; }
  int top() const { return row_ * w_.stride_height - w_.pad_top; }
  int left() const { return column_ * w_.stride_width - w_.pad_left; }
  bool is_row_inside(int y) const { return y >= 0 && y < w_.in_height; }
  bool is_inside(int y, int x) const { return is_row_inside(y) && x >= 0 && x < w_.in_width; }
  /// True if no tap of the window lies outside of the input.
  bool is_interior() const {
    return top() >= 0 && top() + (w_.kernel_height - 1) * w_.dilation_height < w_.in_height &&
           is_interior_in_width();
  }
  bool is_interior_in_width() const {
    return left() >= 0 && left() + (w_.kernel_width - 1) * w_.dilation_width < w_.in_width;
  }
  std::int64_t offset(int y, int x) const {
    return ((std::int64_t{image_} * w_.in_height + y) * w_.in_width + x) * w_.in_channels;
  }

 private:
  const Window& w_;
  int image_;
  int row_;
  int column_;
};

/// Places that windows read: all channels at a place of the input, or padding.
template <class T>
class PaddedInput {
 public:
  explicit PaddedInput(const Window& window)
      : padding_(window.in_channels, static_cast<T>(window.padding_value)) {}

  const T* padding() const { return padding_.data(); }
  const T* at(const T* in, const Pixel& pixel, int y, int x) const {
    return pixel.is_inside(y, x) ? in + pixel.offset(y, x) : padding();
  }

 private:
  std::vector<T> padding_;
};

}  // namespace fixedpoint
