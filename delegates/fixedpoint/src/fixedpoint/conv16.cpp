#include "fixedpoint/conv16.h"

#include "fixedpoint/kernels.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/transformer.h"
#include "fixedpoint/window_taps.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace fixedpoint {
namespace {

/// Products of 2^15 and 2^7 at most, of which 2^8 stay below 2^31.
constexpr int kBlockDepth = 256;

class DotConv16 : public TypedConvKernel<std::int16_t> {
 public:
  DotConv16(const Conv2d& conv, DotRows dot)
      : conv_(conv),
        dot_(dot),
        depth_(padded_depth(conv.window.depth())),
        weights_(std::size_t(conv.window.out_channels) * depth_),
        patch_(depth_),
        block_(conv.window.out_channels),
        sums_(conv.window.out_channels) {
    pack();
  }

  void run(const std::int16_t* in, std::int16_t* out) override {
    const Window& w = conv_.window;
    for_each_pixel(w, out, [&](int image, int row, int column, std::int16_t* pixel) {
      gather_window(w, in, image, row, column, patch_.data());
      accumulate();
      for (int channel = 0; channel < w.out_channels; ++channel) {
        pixel[channel] = requantize_wide(numbers_of(conv_, channel), sums_[channel]);
      }
    });
  }

 private:
  /// Calls `visit(first, depth)` for each block of the sums.
  template <class Visit>
  void for_each_block(Visit visit) const {
    for (int first = 0; first < depth_; first += kBlockDepth) {
      visit(first, std::min(kBlockDepth, depth_ - first));
    }
  }

  /// Block by block, channel by channel; what a block lacks is 0.
  void pack() {
    const Window& w = conv_.window;
    std::int16_t* packed = weights_.data();
    for_each_block([&](int first, int depth) {
      for (int channel = 0; channel < w.out_channels; ++channel) {
        const auto* row = conv_.weights + std::int64_t{channel} * w.depth() + first;
        std::copy_n(row, std::min(depth, w.depth() - first), packed);
        packed += depth;
      }
    });
  }

  void accumulate() {
    const int channels = conv_.window.out_channels;
    std::ranges::fill(sums_, 0);
    const std::int16_t* packed = weights_.data();
    for_each_block([&](int first, int depth) {
      dot_(patch_.data() + first, packed, channels, depth, block_.data());
      for (int channel = 0; channel < channels; ++channel) {
        sums_[channel] += block_[channel];
      }
      packed += std::int64_t{channels} * depth;
    });
  }

  Conv2d conv_;
  DotRows dot_;
  int depth_;
  std::vector<std::int16_t> weights_;
  std::vector<std::int16_t> patch_;
  std::vector<std::int32_t> block_;
  std::vector<std::int64_t> sums_;
};

}  // namespace

std::unique_ptr<TypedConvKernel<std::int16_t>> make_dot_conv16(const Conv2d& conv, DotRows dot) {
  return std::make_unique<DotConv16>(conv, dot);
}

}  // namespace fixedpoint
