#pragma once

#include "fixedpoint/kernels.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/packed_conv.h"
#include "fixedpoint/packed_weights.h"
#include "fixedpoint/scratch.h"
#include "fixedpoint/window_walk.h"

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace fixedpoint {

/// Base of every convolution over packed weights. Tables are of int8 alone.
template <class T>
class PackedKernel : public TypedConvKernel<T> {
 protected:
  PackedKernel(const Conv2d& conv, TableFunction table, PackedWeights packed)
      : conv_(conv),
        packed_(std::move(packed)),
        padded_(conv.window),
        scratch_(conv.scratch != nullptr ? conv.scratch : std::make_shared<Scratch>()),
        table_(table) {}

  /// As many parts as there are threads, or one where there is too little to do.
  int take_parts(int parts) {
    const Window& w = conv_.window;
    const double macs = static_cast<double>(w.out_pixels()) * w.out_channels * w.depth();
    parts_ = macs >= kLeastSharedMacs ? parts : 1;
    return parts_;
  }
  TileNumbers numbers(int tile) const { return {packed_.blocks(tile), conv_.low, conv_.high}; }
  bool has_table() const { return conv_.table != nullptr; }
  void look_up(std::int64_t count, T* values) const {
    if constexpr (std::is_same_v<T, std::int8_t>) {
      if (has_table()) {
        table_(conv_.table, count, values, values);
      }
    }
  }

  /// The table, on channels from `first` to `end` of `rows` pixels.
  void look_up_channels(std::int64_t rows, int first, int end, T* out) const {
    const int channels = conv_.window.out_channels;
    if (!has_table()) {
      return;
    }
    if (end - first == channels) {
      look_up(rows * channels, out);
      return;
    }
    for (std::int64_t row = 0; row < rows; ++row) {
      look_up(end - first, out + row * channels + first);
    }
  }

  Conv2d conv_;
  PackedWeights packed_;
  PaddedInput<T> padded_;
  std::shared_ptr<Scratch> scratch_;
  int parts_ = 1;

 private:
  /// Less work than this takes no longer than to wake another thread.
  static constexpr double kLeastSharedMacs = 2e5;

  TableFunction table_;
};

}  // namespace fixedpoint
