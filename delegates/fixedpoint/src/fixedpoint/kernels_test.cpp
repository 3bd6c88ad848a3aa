#include "fixedpoint/kernels.h"

#include "fixedpoint/operations.h"
#include "fixedpoint/testing/random_cases.h"
#if defined(__x86_64__)
#include "fixedpoint/tile_conv.h"
#include "fixedpoint/x86.h"

#include <sys/mman.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <gtest/gtest.h>
#include <ostream>
#include <random>
#include <string>
#include <vector>

namespace fixedpoint {

/// How GoogleTest names them, rather than by an address.
void PrintTo(const Kernels* kernels, std::ostream* out) { *out << kernels->isa; }

namespace {

using testing::case_count;
using testing::describe;
using testing::Draw;
using testing::draw_conv;
using testing::draw_window;

class EachKernels : public ::testing::TestWithParam<const Kernels*> {
 protected:
  void SetUp() override {
    if (!GetParam()->is_supported()) {
      GTEST_SKIP() << "this processor has no " << GetParam()->isa;
    }
  }
};

TEST_P(EachKernels, ConvolveToTheBitsOfTheDefinition) {
  Draw draw(1);
  for (int i = 0; i < case_count(); ++i) {
    auto made = draw_conv(draw, draw_window(draw));
    std::vector<std::int8_t> expected(made.out_size());
    std::vector<std::int8_t> found(made.out_size());
    scalar_kernels().make_conv2d(made.conv)->run(made.input.data(), expected.data());
    GetParam()->make_conv2d(made.conv)->run(made.input.data(), found.data());
    ASSERT_EQ(found, expected) << describe(made.conv.window);
  }
}

/// Up to 2^30, which its halves of 15 bits do not hold.
std::int32_t draw_factor(Draw& draw) {
  return draw.between(0, 7) == 0 ? 1 << 30 : static_cast<std::int32_t>(draw.between(0, 1 << 30));
}

TEST_P(EachKernels, AddToTheBitsOfTheDefinition) {
  Draw draw(2);
  for (int i = 0; i < case_count(); ++i) {
    const auto count = static_cast<std::size_t>(draw.between(1, 200));
    const int shift = static_cast<int>(draw.between(16, 40));
    Add add{.count = static_cast<std::int64_t>(count),
            .multipliers = {draw_factor(draw), draw_factor(draw)},
            .bias = draw.between(-(std::int64_t{1} << 46), std::int64_t{1} << 46),
            .shift = shift,
            .low = static_cast<int>(draw.between(-128, 0)),
            .high = static_cast<int>(draw.between(0, 127))};
    const auto a = draw.bytes(count);
    const auto b = draw.bytes(count);
    std::vector<std::int8_t> expected(count);
    scalar_kernels().add(add, a.data(), b.data(), expected.data());
    auto found = a;  // in place
    GetParam()->add(add, found.data(), b.data(), found.data());
    ASSERT_EQ(found, expected) << "shift " << shift;
  }
}

Requantize draw_requantize(Draw& draw) {
  const int shift = static_cast<int>(draw.between(28, 50));
  return {.multiplier = draw.between(0, (std::int64_t{1} << 31) - 1),
          .bias = draw.between(-100, 100) * (std::int64_t{1} << shift) +
                  (std::int64_t{1} << (shift - 1)),
          .shift = shift,
          .low = static_cast<int>(draw.between(-128, 0)),
          .high = static_cast<int>(draw.between(0, 127))};
}

TEST_P(EachKernels, MultiplyToTheBitsOfTheDefinition) {
  Draw draw(3);
  for (int i = 0; i < case_count(); ++i) {
    const Mul mul{.outer = static_cast<int>(draw.between(1, 2)),
                  .rows = static_cast<int>(draw.between(1, 5)),
                  .inner = static_cast<int>(draw.between(1, 70)),
                  .zero_point_a = static_cast<int>(draw.between(-128, 127)),
                  .zero_point_b = static_cast<int>(draw.between(-128, 127)),
                  .requantize = draw_requantize(draw)};
    const auto a = draw.bytes(std::size_t(mul.outer) * mul.rows * mul.inner);
    const auto b = draw.bytes(std::size_t(mul.outer) * mul.inner);
    std::vector<std::int8_t> expected(a.size());
    scalar_kernels().mul(mul, a.data(), b.data(), expected.data());
    auto found = a;
    GetParam()->mul(mul, found.data(), b.data(), found.data());
    ASSERT_EQ(found, expected);
  }
}

TEST_P(EachKernels, QuantizePixelsToTheBitsOfTheDefinition) {
  Draw draw(6);
  constexpr float kOdd[] = {NAN, INFINITY, -INFINITY, 0.5F, -1.5F, -0.0F, 1e-42F};
  for (int i = 0; i < case_count(); ++i) {
    const std::int64_t count = draw.between(1, 70);
    const std::int64_t values = draw.between(1, kMostPixelValues);
    const std::int64_t stride = count + draw.between(0, 3);
    const Boundary boundary{.factor = 1.0F / static_cast<float>(draw.between(1, 9)),
                            .zero_point = static_cast<int>(draw.between(-128, 127)),
                            .low = static_cast<int>(draw.between(-128, 0)),
                            .high = static_cast<int>(draw.between(0, 127))};
    std::vector<float> in((values - 1) * stride + count);  // Sanitizers see what reads past it.
    std::ranges::generate(in, [&] {
      const auto odd = draw.between(0, 40);
      return odd < std::ssize(kOdd) ? kOdd[odd]
                                    : 0.5F * static_cast<float>(draw.between(-900, 900));
    });
    std::vector<std::int8_t> expected(count * values);
    quantize_pixels(boundary, in.data(), count, values, stride, expected.data());
    std::vector<std::int8_t> found(expected.size() + 1, 77);
    GetParam()->quantize_pixels(boundary, in.data(), count, values, stride, found.data());
    EXPECT_EQ(found.back(), 77);
    found.pop_back();
    ASSERT_EQ(found, expected) << count << " pixels of " << values;
  }
}

TEST_P(EachKernels, PoolToTheBitsOfTheDefinition) {
  Draw draw(4);
  for (int i = 0; i < case_count(); ++i) {
    Window w = draw_window(draw);
    w.groups = 1;
    w.out_channels = w.in_channels;
    if (draw.between(0, 1) == 0) {
      w = {.batch = w.batch,
           .in_height = w.in_height,
           .in_width = w.in_width,
           .in_channels = w.in_channels,
           .out_height = 1,
           .out_width = 1,
           .out_channels = w.in_channels,
           .kernel_height = w.in_height,
           .kernel_width = w.in_width};
    }
    const auto in = draw.bytes(std::size_t(w.batch) * w.in_height * w.in_width * w.in_channels);
    std::vector<std::int8_t> expected(w.out_pixels() * w.out_channels);
    auto found = expected;
    const AvgPool2d average{.window = w, .requantize = draw_requantize(draw)};
    scalar_kernels().avg_pool2d(average, in.data(), expected.data());
    GetParam()->avg_pool2d(average, in.data(), found.data());
    ASSERT_EQ(found, expected) << describe(w);
    const MaxPool2d most{.window = w, .low = -100, .high = 90};
    scalar_kernels().max_pool2d(most, in.data(), expected.data());
    GetParam()->max_pool2d(most, in.data(), found.data());
    ASSERT_EQ(found, expected) << describe(w);
  }
}

TEST_P(EachKernels, LookUpEveryValue) {
  Draw draw(5);
  for (int i = 0; i < case_count(); ++i) {
    const auto results = draw.bytes(256);
    auto values = draw.bytes(static_cast<std::size_t>(draw.between(1, 300)));
    std::vector<std::int8_t> expected(values.size());
    scalar_kernels().table(results.data(), static_cast<std::int64_t>(values.size()), values.data(),
                           expected.data());
    GetParam()->table(results.data(), static_cast<std::int64_t>(values.size()), values.data(),
                      values.data());
    ASSERT_EQ(values, expected);
  }
}

/// Windows that do not fit one panel: plain ones, windows that slide by two, a matrix; and few rows
/// of many.
std::vector<Window> large_windows() {
  return {{1, 62, 61, 64, 62, 61, 20, 3, 3, 1, 1, 1, 1},
          {1, 120, 119, 33, 60, 60, 17, 3, 3, 2, 2, 1, 1},
          {1, 90, 70, 3, 43, 64, 40, 7, 7, 2, 1, 1, 0},
          {1, 1, 2100, 98, 1, 2100, 33},
          {2, 1, 37, 1030, 1, 37, 65}};
}

TEST_P(EachKernels, ConvolveLargeLayersToTheBitsOfTheDefinition) {
  Draw draw(6);
  for (const auto& window : large_windows()) {
    auto made = draw_conv(draw, window);
    for (auto& shift : made.shifts) {  // vector units take no large scales over deep sums
      shift = std::max<std::uint8_t>(shift, 33);
    }
    std::vector<std::int8_t> expected(made.out_size());
    std::vector<std::int8_t> found(made.out_size());
    scalar_kernels().make_conv2d(made.conv)->run(made.input.data(), expected.data());
    const auto kernel = GetParam()->make_conv2d(made.conv);
    kernel->run(made.input.data(), found.data());
    kernel->run(made.input.data(), found.data());
    ASSERT_TRUE(found == expected) << describe(window);
  }
}

#if defined(__x86_64__)
/// Memory that ends where nothing may be read.
class Guarded {
 public:
  Guarded() {
    void* taken =
        mmap(nullptr, kBytes + kGuard, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(taken, MAP_FAILED);
    memory_ = static_cast<std::int8_t*>(taken);
    EXPECT_EQ(mprotect(memory_ + kBytes, kGuard, PROT_NONE), 0);
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() { munmap(memory_, kBytes + kGuard); }

  /// The values, right before the end.
  const std::int8_t* hold(const std::vector<std::int8_t>& values) {
    return std::ranges::copy(values, memory_ + kBytes - values.size()).out - values.size();
  }

 private:
  static constexpr std::size_t kBytes = 1 << 20;
  static constexpr std::size_t kGuard = 1 << 16;
  std::int8_t* memory_ = nullptr;
};

TEST(Tiles, ConvolveAnyShapeToTheBitsOfTheDefinition) {
  if (!amx_kernels().is_supported()) {
    GTEST_SKIP() << "this processor has no matrix tiles";
  }
  Draw draw(7);
  Guarded guarded;
  for (int i = 0; i < case_count(); ++i) {
    auto made = draw_conv(draw, draw_window(draw));
    const auto kernel = make_tile_conv(made.conv, amx::kTiles, avx512::table);
    if (kernel == nullptr) {
      continue;
    }
    std::vector<std::int8_t> expected(made.out_size());
    std::vector<std::int8_t> found(made.out_size());
    scalar_kernels().make_conv2d(made.conv)->run(made.input.data(), expected.data());
    kernel->run(guarded.hold(made.input), found.data());
    ASSERT_EQ(found, expected) << describe(made.conv.window);
  }
}

TEST(Tiles, AreNotForWindowsThatReachTooFar) {
  Draw draw(8);
  Window w{1, 1, 2000, 8, 1, 2000, 1, 2, 1};
  w.pad_top = w.dilation_height = 2000;
  EXPECT_EQ(make_tile_conv(draw_conv(draw, w).conv, amx::kTiles, avx512::table), nullptr);
  w.pad_top = w.dilation_height = 20;
  EXPECT_NE(make_tile_conv(draw_conv(draw, w).conv, amx::kTiles, avx512::table), nullptr);
}
#endif

INSTANTIATE_TEST_SUITE_P(All, EachKernels, ::testing::ValuesIn(all_kernels()),
                         [](const auto& tested) { return std::string(tested.param->isa); });

TEST(ScalarKernels, RequantizeAsTheFormulaSays) {
  const Requantize halves{.multiplier = 1, .bias = 1, .shift = 1};
  EXPECT_EQ(halves(5), 3);    // 2.5 goes up
  EXPECT_EQ(halves(-5), -2);  // -2.5 goes up, too
  EXPECT_EQ(halves(1000), 127);
  const Requantize widest{.multiplier = (std::int64_t{1} << 31) - 1, .bias = 0, .shift = 62};
  EXPECT_EQ(widest((std::int64_t{1} << 31) - 1), 0);
  EXPECT_EQ(widest(-(std::int64_t{1} << 31) + 1), -1);
}

TEST(Boundary, RoundsHalfToEvenAndClampsWhatIsNoNumber) {
  const std::vector<float> in = {0.5F, 1.5F, 2.5F, -0.5F, -1.5F, 1e30F, -1e30F, NAN};
  Boundary boundary{.factor = 1.0F, .zero_point = 3, .low = -10, .high = 20};
  boundary.read = {.rank = 1};
  boundary.read.dims[0] = static_cast<std::int64_t>(in.size());
  boundary.read.strides[0] = 1;
  std::vector<std::int8_t> out(in.size());
  quantize(boundary, in.data(), out.data());
  EXPECT_EQ(out, (std::vector<std::int8_t>{3, 5, 5, 3, 1, 20, -10, -10}));
}

TEST(Copy, InterleavesFewChannelsOfALongImage) {
  Copy op{.rank = 2};
  op.dims = {1000, 3};
  op.strides = {1, 1000};
  std::vector<std::int8_t> in(3000);
  for (std::size_t i = 0; i < in.size(); ++i) {
    in[i] = static_cast<std::int8_t>(i % 251);
  }
  std::vector<std::int8_t> out(3000);
  copy(op, in.data(), out.data());
  for (int pixel = 0; pixel < 1000; ++pixel) {
    for (int channel = 0; channel < 3; ++channel) {
      ASSERT_EQ(out[pixel * 3 + channel], in[channel * 1000 + pixel]) << pixel << " " << channel;
    }
  }
}

}  // namespace
}  // namespace fixedpoint
