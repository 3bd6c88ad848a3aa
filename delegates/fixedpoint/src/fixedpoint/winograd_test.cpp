#include "fixedpoint/kernels.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/packed_conv.h"
#include "fixedpoint/testing/random_cases.h"
#include "fixedpoint/winograd_conv.h"
#if defined(__x86_64__)
#include "fixedpoint/x86.h"
#elif defined(__aarch64__)
#include "fixedpoint/neon.h"
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace fixedpoint {
namespace {

using testing::case_count;
using testing::ConvCase;
using testing::describe;
using testing::Draw;
using testing::draw_conv;

struct Tested {
  const Kernels* kernels;
  const WinogradUnit* unit;
};

/// How GoogleTest names them, rather than by their bytes.
void PrintTo(const Tested& tested, std::ostream* out) {
  *out << tested.kernels->isa << "_in_steps_of_" << tested.unit->results();
}

std::vector<Tested> all_units() {
#if defined(__x86_64__)
  return {{&avx2_kernels(), &avx2::kWinograd2},
          {&avx2_kernels(), &avx2::kWinograd4},
          {&avx512_kernels(), &avx512::kWinograd2},
          {&avx512_kernels(), &avx512::kWinograd4}};
#elif defined(__aarch64__)
  return {{&neon_kernels(), &neon::kWinograd2}, {&neon_kernels(), &neon::kWinograd4}};
#else
  return {};
#endif
}

class EachUnit : public ::testing::TestWithParam<Tested> {
 protected:
  void SetUp() override {
    if (!GetParam().kernels->is_supported()) {
      GTEST_SKIP() << "this processor has no " << GetParam().kernels->isa;
    }
  }
  std::unique_ptr<ConvKernel> make(const Conv2d& conv) const {
    return make_winograd_conv(conv, *GetParam().unit, GetParam().kernels->table);
  }
  /// Compares results that are the upper bits of each sum, the middle, and bits that saturate.
  void expect_sums(ConvCase& made, const std::string& name) const;
};

std::vector<std::int8_t> define(const ConvCase& made) {
  std::vector<std::int8_t> expected(made.out_size());
  scalar_kernels().make_conv2d(made.conv)->run(made.input.data(), expected.data());
  return expected;
}

void EachUnit::expect_sums(ConvCase& made, const std::string& name) const {
  for (const int shift : {52, 49, 41, 33}) {
    std::ranges::fill(made.multipliers, std::int32_t{1} << 30);
    std::ranges::fill(made.shifts, static_cast<std::uint8_t>(shift));
    std::ranges::fill(made.biases, std::int64_t{1} << (shift - 1));
    const auto kernel = make(made.conv);
    ASSERT_NE(kernel, nullptr);
    std::vector<std::int8_t> found(made.out_size());
    kernel->run(made.input.data(), found.data());
    ASSERT_EQ(found, define(made)) << name << ", " << shift;
  }
}

/// Windows of 3x3 over `height` x `width` pixels with the same padding on each side.
Window window_of(int batch, int height, int width, int in_channels, int out_channels, int pad) {
  return {.batch = batch,
          .in_height = height,
          .in_width = width,
          .in_channels = in_channels,
          .out_height = height + 2 * pad - 2,
          .out_width = width + 2 * pad - 2,
          .out_channels = out_channels,
          .kernel_height = 3,
          .kernel_width = 3,
          .pad_top = pad,
          .pad_left = pad};
}

/// Images of one and of several rows, with and without padding.
Window draw_winograd(Draw& draw) {
  const int pad = static_cast<int>(draw.between(0, 2));
  const int least = std::max(3 - 2 * pad, 1);
  const auto size = [&] { return static_cast<int>(draw.between(least, 9)); };
  const int height = draw.between(0, 5) == 0 ? least : size();
  const int width = draw.between(0, 5) == 0 ? static_cast<int>(draw.between(10, 40)) : size();
  Window w = window_of(static_cast<int>(draw.between(1, 3)), height, width,
                       static_cast<int>(draw.between(kLeastWinogradChannels, 70)),
                       static_cast<int>(draw.between(1, 40)), pad);
  // Zero points, their ends among them.
  const auto end = draw.between(0, 3);
  w.padding_value = end == 0 ? -128 : static_cast<int>(end == 1 ? 127 : draw.between(-128, 127));
  return w;
}

/// A case whose numbers vector units take: no large scales over deep sums.
ConvCase draw_fitting(Draw& draw, const Window& window) {
  auto made = draw_conv(draw, window);
  for (auto& shift : made.shifts) {
    shift = std::max<std::uint8_t>(shift, 33);
  }
  return made;
}

TEST_P(EachUnit, ConvolvesToTheBitsOfTheDefinition) {
  Draw draw(20);
  for (int i = 0; i < std::max(case_count() / 20, 20); ++i) {
    const auto made = draw_fitting(draw, draw_winograd(draw));
    const auto kernel = make(made.conv);
    ASSERT_NE(kernel, nullptr);
    std::vector<std::int8_t> found(made.out_size());
    kernel->run(made.input.data(), found.data());
    ASSERT_EQ(found, define(made)) << describe(made.conv.window);
  }
}

/// A case whose requantization shows all bits of the sums that eight bits can.
ConvCase make_case(const Window& w, const std::function<int(int)>& weight,
                   const std::function<int(int)>& value) {
  Draw draw(21);
  ConvCase made = draw_fitting(draw, w);
  for (std::size_t i = 0; i < made.weights.size(); ++i) {
    made.weights[i] = static_cast<std::int8_t>(weight(static_cast<int>(i)));
  }
  for (std::size_t i = 0; i < made.input.size(); ++i) {
    made.input[i] = static_cast<std::int8_t>(value(static_cast<int>(i)));
  }
  made.conv.table = nullptr;
  made.conv.low = -128;
  made.conv.high = 127;
  return made;
}

struct Extremes {
  std::string name;
  std::function<int(int)> weight;
  std::function<int(int)> value;
};

/// Weights of one magnitude, and values that make their sums large or cancel.
std::vector<Extremes> extremes(int weight) {
  const auto all = [](int value) { return [value](int) { return value; }; };
  const auto either = [](int low, int high, int step) {
    return [=](int i) { return i / step % 2 == 0 ? low : high; };
  };
  const auto mixed = [](int low, int high) {
    return [=](int i) {
      return (static_cast<std::uint32_t>(i) * 2654435761U >> 13) % 2 == 0 ? low : high;
    };
  };
  return {{"largest products", all(weight), all(127)},
          {"smallest products", all(weight), all(-128)},
          {"negative weights", all(-weight), all(-128)},
          {"signs by channel", either(weight, -weight, 1), either(-128, 127, 1)},
          {"signs by pixel", either(weight, -weight, 512), either(-128, 127, 512)},
          {"mixed", mixed(-weight, weight), mixed(-128, 127)}};
}

int bits_of_sums(const WinogradUnit& unit) { return unit.step == WinogradStep::kTwo ? 29 : 25; }

/// The largest weight, or the largest of whose sums over 512 channels are small enough.
int largest_weight(const WinogradUnit& unit) {
  return std::min((1 << bits_of_sums(unit)) / (128 * 9 * 512), 127);
}

TEST_P(EachUnit, SumsExtremesOf512Channels) {
  for (const auto& extreme : extremes(largest_weight(*GetParam().unit))) {
    for (const int zero_point : {-128, 0, 127}) {
      Window w = window_of(1, 5, 4, 512, 18, 1);
      w.padding_value = zero_point;
      auto made = make_case(w, extreme.weight, extreme.value);
      expect_sums(made, extreme.name + ", " + std::to_string(zero_point));
    }
  }
}

/// The most channels of the largest weights whose sums are below 2^29, or 2^25.
int most_channels(const WinogradUnit& unit) { return (1 << bits_of_sums(unit)) / (128 * 9 * 127); }

/// Sums of products leave 32 bits on the way, those of the result do not.
TEST_P(EachUnit, SumsWhatWrapsAroundOnTheWay) {
  for (const auto& extreme : extremes(127)) {
    auto made = make_case(window_of(1, 3, 3, most_channels(*GetParam().unit), 3, 1), extreme.weight,
                          extreme.value);
    expect_sums(made, extreme.name);
  }
}

TEST_P(EachUnit, RefusesSumsThatAreTooLarge) {
  const int most = most_channels(*GetParam().unit);
  const auto all = [](int) { return 127; };
  const auto fits = make_case(window_of(1, 1, 1, most, 1, 1), all, all);
  const auto leaves = make_case(window_of(1, 1, 1, most + 1, 1, 1), all, all);
  EXPECT_NE(make(fits.conv), nullptr);
  EXPECT_EQ(make(leaves.conv), nullptr);
}

TEST(Winograd, IsForNoOtherWindows) {
  for (const auto change :
       {+[](Window& w) { w.stride_width = 2; }, +[](Window& w) { w.dilation_height = 2; },
        +[](Window& w) { w.kernel_height = 1; }, +[](Window& w) { w.groups = 2; },
        +[](Window& w) { w.in_channels = kLeastWinogradChannels - 1; }}) {
    Window w = window_of(1, 8, 8, 64, 64, 1);
    EXPECT_TRUE(is_winograd(w));
    change(w);
    EXPECT_FALSE(is_winograd(w));
  }
}

/// Several panels, of results and of channels, each part by itself.
TEST_P(EachUnit, GivesTheSameBitsInParts) {
  for (const Window& w : {window_of(2, 31, 29, 64, 70, 1), window_of(1, 7, 7, 64, 130, 1),
                          window_of(1, 4, 90, 320, 40, 0)}) {
    Draw draw(23);
    const auto made = draw_fitting(draw, w);
    const auto expected = define(made);
    for (const int parts : {1, 2, 3, 7}) {
      const auto kernel = make(made.conv);
      ASSERT_NE(kernel, nullptr);
      const int split = kernel->split(parts);
      EXPECT_EQ(split, parts);
      std::vector<std::int8_t> found(made.out_size());
      for (int part = 0; part < split; ++part) {
        kernel->run_part(made.input.data(), found.data(), part);
      }
      ASSERT_TRUE(found == expected) << describe(w) << ", " << parts;
    }
  }
}

/// A rule over the first instruction set's units.
class Rule : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto units = all_units();
    if (units.empty() || !units[0].kernels->is_supported()) {
      GTEST_SKIP() << "there is no unit that runs here";
    }
    rule = {.two = units[0].unit,
            .four = units[1].unit,
            .least_gain_of_two = 1.5,
            .least_gain_of_four = 1.5,
            .least_twos = 4,
            .least_fours = 8};
    table = units[0].kernels->table;
  }
  const WinogradUnit* choose(int size, int channels, int batch = 1) const {
    return choose_winograd(window_of(batch, size, size, channels, channels, 1), rule);
  }
  WinogradRule rule = {};
  TableFunction table = nullptr;
};

TEST_F(Rule, TakesLargeTilesForLargeImages) {
  EXPECT_EQ(choose(56, 64), rule.four);
  EXPECT_EQ(choose(14, 256), rule.four);
}

TEST_F(Rule, TakesSmallTilesWhereFewShareTheWeightsOrTheyAreLarge) {
  EXPECT_EQ(choose(7, 64), rule.two);
  EXPECT_EQ(choose(7, 64, 2), rule.four);
  EXPECT_EQ(choose(56, 512), rule.two);
  EXPECT_EQ(choose(5, 64), rule.two);
}

TEST_F(Rule, LeavesWindowsWhereTilesGainLittle) {
  EXPECT_EQ(choose(1, 64), nullptr);
  EXPECT_EQ(choose(2, 64), nullptr);
  EXPECT_EQ(choose(3, 64), nullptr);
  EXPECT_EQ(choose(56, 16), nullptr);
  rule.two = nullptr;
  EXPECT_EQ(choose(7, 64), nullptr);
  rule.least_gain_of_four = 3.5;
  EXPECT_EQ(choose(14, 64), nullptr);
  EXPECT_EQ(choose(16, 64), rule.four);
}

TEST_F(Rule, TakesSmallTilesWhereSumsAreTooLargeForLargeOnes) {
  const auto all = [](int) { return 127; };
  const auto made = make_case(window_of(1, 8, 32, 240, 16, 1), all, all);
  EXPECT_EQ(choose_winograd(made.conv.window, rule), rule.four);
  EXPECT_EQ(make_winograd_conv(made.conv, *rule.four, table), nullptr);
  const auto kernel = make_winograd_conv(made.conv, rule, table);
  ASSERT_NE(kernel, nullptr);
  std::vector<std::int8_t> found(made.out_size());
  kernel->run(made.input.data(), found.data());
  EXPECT_EQ(found, define(made));
  rule.two = nullptr;
  EXPECT_EQ(make_winograd_conv(made.conv, rule, table), nullptr);
}

INSTANTIATE_TEST_SUITE_P(All, EachUnit, ::testing::ValuesIn(all_units()),
                         [](const auto& tested) { return ::testing::PrintToString(tested.param); });

}  // namespace
}  // namespace fixedpoint
