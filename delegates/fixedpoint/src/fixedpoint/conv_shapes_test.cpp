#include "fixedpoint/kernels.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/testing/random_cases.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <ostream>
#include <string>
#include <vector>

namespace fixedpoint {

/// How GoogleTest names them, rather than by an address; kernels_test.cpp defines it.
void PrintTo(const Kernels* kernels, std::ostream* out);

namespace {

using testing::case_count;
using testing::ConvCase;
using testing::describe;
using testing::Draw;
using testing::draw_conv;
using testing::draw_conv16;

/// Shapes of convolutions that have ways of their own.
class ConvShapes : public ::testing::TestWithParam<const Kernels*> {
 protected:
  void SetUp() override {
    if (!GetParam()->is_supported()) {
      GTEST_SKIP() << "this processor has no " << GetParam()->isa;
    }
  }
  void expect_definition(const ConvCase& made) const {
    std::vector<std::int8_t> expected(made.out_size());
    std::vector<std::int8_t> found(made.out_size());
    scalar_kernels().make_conv2d(made.conv)->run(made.input.data(), expected.data());
    GetParam()->make_conv2d(made.conv)->run(made.input.data(), found.data());
    ASSERT_EQ(found, expected) << describe(made.conv.window);
  }
  void expect_definition16(const ConvCase& made) const {
    std::vector<std::int16_t> expected(made.out_size());
    std::vector<std::int16_t> found(made.out_size());
    kScalarKernels16.make_conv2d(made.conv)->run(made.wide_input.data(), expected.data());
    GetParam()->of_16_bits->make_conv2d(made.conv)->run(made.wide_input.data(), found.data());
    ASSERT_EQ(found, expected) << describe(made.conv.window);
  }
};

Window row_window(int in_channels, int out_channels) {
  return {.batch = 1,
          .in_height = 1,
          .in_width = 1,
          .in_channels = in_channels,
          .out_height = 1,
          .out_width = 1,
          .out_channels = out_channels};
}

TEST_P(ConvShapes, MultiplySingleRowsOfAnyDepth) {
  Draw draw(21);
  for (int i = 0; i < case_count() / 10; ++i) {
    const auto depth = static_cast<int>(draw.between(1, draw.between(0, 3) == 0 ? 3000 : 70));
    expect_definition(draw_conv(draw, row_window(depth, static_cast<int>(draw.between(1, 70)))));
  }
}

/// The largest sums of either sign, at depths around those at which parts of sums end.
TEST_P(ConvShapes, MultiplySingleRowsOfTheLargestSums) {
  Draw draw(22);
  for (const int depth : {503, 504, 505, 511, 512, 513, 1007, 1008, 1009, 1280, 4096}) {
    auto made = draw_conv(draw, row_window(depth, 17));
    made.conv.low = -128;
    made.conv.high = 127;
    std::ranges::fill(made.input, std::int8_t{-128});
    for (int channel = 0; channel < 17; ++channel) {
      const auto weight = static_cast<std::int8_t>(channel % 2 == 0 ? -127 : 127);
      std::fill_n(made.weights.begin() + std::ptrdiff_t{channel} * depth, depth, weight);
    }
    for (const int shift :
         {47, 50, 53}) {  // The sums lie above, among and below the bits of results.
      std::ranges::fill(made.multipliers, std::int32_t{1} << 30);
      std::ranges::fill(made.shifts, static_cast<std::uint8_t>(shift));
      std::ranges::fill(made.biases, std::int64_t{1} << (shift - 1));
      expect_definition(made);
    }
  }
}

/// Windows over images of few channels, of any stride, inside of the image and around it.
Window draw_few_channels(Draw& draw) {
  const auto some = [&](int low, int high) { return static_cast<int>(draw.between(low, high)); };
  Window w{.batch = some(1, 2),
           .in_height = some(1, 9),
           .in_width = draw.between(0, 7) == 0 ? some(100, 130) : some(1, 20),
           .in_channels = some(1, 5),
           .out_channels = some(1, 40)};
  w.kernel_height = some(1, std::min(7, w.in_height + 2));
  w.kernel_width = some(1, std::min(7, w.in_width + 2));
  w.stride_height = some(1, 9);  // Rows between windows may be read by none.
  w.stride_width = some(1, 3);
  w.pad_top = std::max(w.kernel_height - w.in_height, 0) + some(0, 2);
  w.pad_left = std::max(w.kernel_width - w.in_width, 0) + some(0, 8);
  w.out_height = (w.in_height + 2 * w.pad_top - w.kernel_height) / w.stride_height + 1;
  w.out_width = (w.in_width + 2 * w.pad_left - w.kernel_width) / w.stride_width + 1;
  w.padding_value = some(-128, 127);
  return w;
}

TEST_P(ConvShapes, ConvolveFewChannels) {
  Draw draw(23);
  for (int i = 0; i < case_count() / 2; ++i) {
    expect_definition(draw_conv(draw, draw_few_channels(draw)));
  }
}

TEST_P(ConvShapes, ConvolveFewChannelsOf16Bits) {
  Draw draw(24);
  for (int i = 0; i < case_count() / 4; ++i) {
    expect_definition16(draw_conv16(draw, draw_few_channels(draw)));
  }
}

INSTANTIATE_TEST_SUITE_P(All, ConvShapes, ::testing::ValuesIn(all_kernels()),
                         [](const auto& tested) { return std::string(tested.param->isa); });

}  // namespace
}  // namespace fixedpoint
