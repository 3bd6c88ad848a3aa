#pragma once

#include "fixedpoint/operations.h"

#include <algorithm>
#include <cstdint>

namespace fixedpoint {

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
template <class T, class Visit>
void for_each_pixel(const Window& w, T* out, Visit visit) {
  for (int image = 0; image < w.batch; ++image) {
    for (int row = 0; row < w.out_height; ++row) {
      for (int column = 0; column < w.out_width; ++column) {
        visit(image, row, column, out);
        out += w.out_channels;
      }
    }
  }
}

/// Copies all inputs of one output pixel: (taps, in_channels).
template <class T>
void gather_window(const Window& w, const T* in, int image, int row, int column, T* patch) {
  for_each_tap(w, image, row, column, [&](std::int64_t offset) {
    if (offset < 0) {
      std::fill_n(patch, w.in_channels, static_cast<T>(w.padding_value));
    } else {
      std::copy_n(in + offset, w.in_channels, patch);
    }
    patch += w.in_channels;
  });
}

}  // namespace fixedpoint
