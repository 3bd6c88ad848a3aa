#include "fixedpoint/testing/random_cases.h"

#include "fixedpoint/operations.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string>

namespace fixedpoint::testing {
namespace {

int out_size(int in, int kernel, int stride, int pad, int dilation) {
  return (in + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1;
}

}  // namespace

int case_count() {
  const char* given = std::getenv("FIXEDPOINT_TEST_CASES");
  const long count = given != nullptr ? std::strtol(given, nullptr, 10) : 10000;
  return static_cast<int>(std::max(count, 1L));
}

Window draw_window(Draw& draw) {
  Window w{.batch = static_cast<int>(draw.between(1, 2)),
           .in_height = static_cast<int>(draw.between(1, 9)),
           .in_width = static_cast<int>(draw.between(1, 9))};
  const auto kind = draw.between(0, 3);
  if (kind == 0) {  // depthwise
    w.in_channels = w.out_channels = w.groups = static_cast<int>(draw.between(2, 150));
    if (draw.between(0, 7) == 0) {
      w.in_width = static_cast<int>(draw.between(30, 100));  // Rows go by parts of 32 pixels.
    }
  } else if (kind == 1) {  // groups
    w.groups = static_cast<int>(draw.between(2, 3));
    w.in_channels = w.groups * static_cast<int>(draw.between(1, 5));
    w.out_channels = w.groups * static_cast<int>(draw.between(1, 5));
  } else {
    w.in_channels = static_cast<int>(draw.between(1, 70));
    w.out_channels = static_cast<int>(draw.between(1, 70));
  }
  if (kind != 3) {
    const int most_rows = kind == 0 ? 5 : 3;
    w.kernel_height = static_cast<int>(draw.between(1, std::min(most_rows, w.in_height)));
    w.kernel_width = static_cast<int>(draw.between(1, std::min(5, w.in_width)));
    w.stride_height = static_cast<int>(draw.between(1, 2));
    w.stride_width = static_cast<int>(draw.between(1, 2));
    w.pad_top = static_cast<int>(draw.between(0, w.kernel_height - 1));
    w.pad_left = static_cast<int>(draw.between(0, w.kernel_width - 1));
    w.dilation_width =
        w.kernel_width * 2 - 1 <= w.in_width ? static_cast<int>(draw.between(1, 2)) : 1;
  }
  w.out_height = out_size(w.in_height, w.kernel_height, w.stride_height, w.pad_top, 1);
  w.out_width = out_size(w.in_width, w.kernel_width, w.stride_width, w.pad_left, w.dilation_width);
  w.padding_value = static_cast<int>(draw.between(-128, 127));
  return w;
}

ConvCase draw_conv(Draw& draw, const Window& window) {
  ConvCase made{.conv = {.window = window}};
  const Window& w = made.conv.window;
  made.input = draw.bytes(std::int64_t{w.batch} * w.in_height * w.in_width * w.in_channels);
  made.weights = draw.bytes(std::int64_t{w.out_channels} * w.depth());
  std::ranges::replace(made.weights, std::int8_t{-128}, std::int8_t{-127});
  if (draw.between(0, 2) == 0) {  // Some instruction sets multiply 64 at most faster.
    std::ranges::transform(made.weights, made.weights.begin(), [](int weight) {
      return static_cast<std::int8_t>((weight + (weight < 0 ? -1 : 1)) / 2);
    });
  }
  made.table = draw.bytes(256);
  const bool has_large_scales = draw.between(0, 3) == 0;
  for (int i = 0; i < w.out_channels; ++i) {
    made.multipliers.push_back(static_cast<std::int32_t>(
        draw.between(std::int64_t{1} << 30, (std::int64_t{1} << 31) - 1)));
    const int shift = static_cast<int>(draw.between(has_large_scales ? 20 : 33, 45));
    made.shifts.push_back(static_cast<std::uint8_t>(shift));
    made.biases.push_back(draw.between(-200, 200) * (std::int64_t{1} << shift) +
                          draw.between(0, (std::int64_t{1} << shift) - 1));
  }
  const int first = static_cast<int>(draw.between(-128, 127));
  const int second = static_cast<int>(draw.between(-128, 127));
  made.conv.low = std::min(first, second);
  made.conv.high = std::max(first, second);
  made.conv.weights = made.weights.data();
  made.conv.multipliers = made.multipliers.data();
  made.conv.shifts = made.shifts.data();
  made.conv.biases = made.biases.data();
  made.conv.table = draw.between(0, 1) == 0 ? nullptr : made.table.data();
  return made;
}

ConvCase draw_conv16(Draw& draw, const Window& window) {
  auto made = draw_conv(draw, window);
  made.conv.table = nullptr;
  made.conv.window.padding_value = static_cast<int>(draw.between(-32768, 32767));
  made.wide_input = draw.values<std::int16_t>(std::ssize(made.input), -32768, 32767);
  for (std::size_t i = 0; i < made.shifts.size(); ++i) {
    const int shift = static_cast<int>(draw.between(16, 50));
    made.shifts[i] = static_cast<std::uint8_t>(shift);
    const std::int64_t most_bias = std::int64_t{1} << std::min(shift + 15, 61);
    made.biases[i] = draw.between(-most_bias, most_bias);
  }
  const auto [low, high] = std::minmax({draw.between(-32768, 32767), draw.between(-32768, 32767)});
  made.conv.low = static_cast<int>(low);
  made.conv.high = static_cast<int>(high);
  return made;
}

std::string describe(const Window& w) {
  std::string text;
  for (const int value : {w.batch, w.in_height, w.in_width, w.in_channels, w.out_height,
                          w.out_width, w.out_channels, w.kernel_height, w.kernel_width,
                          w.stride_height, w.stride_width, w.pad_top, w.pad_left, w.groups}) {
    text += std::to_string(value) + " ";
  }
  return text;
}

}  // namespace fixedpoint::testing
