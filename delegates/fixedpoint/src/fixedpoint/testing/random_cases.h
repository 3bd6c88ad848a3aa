#pragma once

#include "fixedpoint/operations.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

/// Cases that tests of kernels draw.
namespace fixedpoint::testing {

/// How many drawn cases each kernel is tried on: FIXEDPOINT_TEST_CASES, or 10000; an emulator or a
/// sanitizer takes fewer.
int case_count();

class Draw {
 public:
  explicit Draw(unsigned seed) : engine_(seed) {}
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }
  /// Every third holds extremes only, and every sixth of these one value alone.
  template <class T>
  std::vector<T> values(std::int64_t count, std::int64_t low, std::int64_t high) {
    const bool is_extreme = between(0, 2) == 0;
    const bool is_constant = is_extreme && between(0, 5) == 0;
    const std::int64_t one = between(low, high);
    std::vector<T> made(count);
    for (auto& value : made) {
      const std::int64_t extreme = between(0, 1) == 0 ? low : high;
      value = static_cast<T>(is_constant ? one : (is_extreme ? extreme : between(low, high)));
    }
    return made;
  }
  std::vector<std::int8_t> bytes(std::int64_t count) {
    return values<std::int8_t>(count, -128, 127);
  }
  /// The lengths of vectors and what lies beside them, and sometimes the longest row.
  std::int64_t columns() { return between(0, 99) == 0 ? kMostColumns : between(1, 140); }
  Requantize requantize(int least_shift, int most_shift) {
    const int shift = static_cast<int>(between(least_shift, most_shift));
    const std::int64_t most_bias = std::int64_t{200} << std::min(shift, 53);  // below 2^61
    return {.multiplier = between(0, 3) == 0 ? (std::int64_t{1} << 31) - 1
                                             : between(0, (std::int64_t{1} << 31) - 1),
            .bias = between(-most_bias, most_bias),
            .shift = shift,
            .low = static_cast<int>(between(-128, 0)),
            .high = static_cast<int>(between(0, 127))};
  }

 private:
  static constexpr std::int64_t kMostColumns = 1 << 14;
  std::mt19937 engine_;
};

/// A convolution with its constants and an input.
struct ConvCase {
  Conv2d conv;
  std::vector<std::int8_t> weights;
  std::vector<std::int32_t> multipliers;
  std::vector<std::uint8_t> shifts;
  std::vector<std::int64_t> biases;
  std::vector<std::int8_t> table;
  std::vector<std::int8_t> input;
  std::vector<std::int16_t> wide_input;  ///< Input of 16 bits; empty: none.

  std::size_t out_size() const { return conv.window.out_pixels() * conv.window.out_channels; }
};

/// Odd sizes of few elements, of one group, of several, and of one for each channel.
Window draw_window(Draw& draw);

/// Its weights, numbers and input; scales and biases as large as a blob may have.
ConvCase draw_conv(Draw& draw, const Window& window);

/// Draws a case on activations of 16 bits: some have sums beyond 32 bits.
ConvCase draw_conv16(Draw& draw, const Window& window);

/// The sizes of a window, in the order of its members.
std::string describe(const Window& window);

}  // namespace fixedpoint::testing
