#include "fixedpoint/format.h"
#include "fixedpoint/kernels.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/testing/random_cases.h"
#include "fixedpoint/transformer.h"
#include "fixedpoint/transformer16.h"
#include "fixedpoint/window_taps.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <gtest/gtest.h>
#include <iterator>
#include <numeric>
#include <random>
#include <string>
#include <vector>

// Activations of 16 bits: the definitions beside wider integers and real numbers.
namespace fixedpoint {
namespace {

__extension__ using Wide = __int128;

/// Generator whose numbers depend on the seed alone.
std::mt19937_64 seeded(std::uint64_t seed) { return std::mt19937_64(seed); }

std::int64_t draw(std::mt19937_64& engine, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(engine);
}

/// Computes the definition in 128 bits.
std::int64_t requantized(const Requantize& op, std::int64_t accumulator) {
  const Wide sum = Wide{accumulator} * op.multiplier + op.bias;
  Wide value = sum >> op.shift;
  const bool is_tie = (value << op.shift) == sum;
  if (op.rounding == Rounding::kHalfEven && is_tie && value % 2 != 0) {
    value -= 1;
  }
  return static_cast<std::int64_t>(std::clamp<Wide>(value, op.low, op.high));
}

/// Whole magnitudes are as likely as any number in between.
Requantize draw_requantize(std::mt19937_64& engine) {
  const bool is_power = draw(engine, 0, 1) == 0;
  const std::int64_t most = std::int64_t{1} << draw(engine, 0, 62);
  return {.multiplier = is_power ? std::int64_t{1} << draw(engine, 0, 30)
                                 : draw(engine, 0, (std::int64_t{1} << 31) - 1),
          .bias = is_power ? most : draw(engine, -most, most),
          .shift = static_cast<int>(draw(engine, 16, 62)),
          .low = -32768,
          .high = 32767,
          .rounding = draw(engine, 0, 1) == 0 ? Rounding::kHalfUp : Rounding::kHalfEven};
}

/// The definition of a convolution.
std::vector<std::int16_t> convolved(const testing::ConvCase& made) {
  const Window& w = made.conv.window;
  std::vector<std::int16_t> out(made.out_size());
  std::vector<std::int16_t> patch(std::size_t(w.taps()) * w.in_channels);
  for_each_pixel(w, out.data(), [&](int image, int row, int column, std::int16_t* pixel) {
    gather_window(w, made.wide_input.data(), image, row, column, patch.data());
    for (int channel = 0; channel < w.out_channels; ++channel) {
      std::int64_t sum = 0;
      for (int i = 0; i < w.depth(); ++i) {
        const int place = i / w.in_group() * w.in_channels +
                          channel / w.out_group() * w.in_group() + i % w.in_group();
        sum += std::int64_t{patch[place]} * made.weights[std::int64_t{channel} * w.depth() + i];
      }
      pixel[channel] = static_cast<std::int16_t>(requantized(numbers_of(made.conv, channel), sum));
    }
  });
  return out;
}

void expect_convolved(const Kernels& kernels, const testing::ConvCase& made,
                      const std::vector<std::int16_t>& expected) {
  const auto about = std::string(kernels.isa) + " " + testing::describe(made.conv.window);
  const auto kernel = kernels.of_16_bits->make_conv2d(made.conv);
  std::vector<std::int16_t> found(expected.size() + 1, 77);
  kernel->run(made.wide_input.data(), found.data());
  EXPECT_EQ(found.back(), 77) << about;
  found.pop_back();
  ASSERT_EQ(found, expected) << about;
  std::ranges::fill(found, std::int16_t{0});
  const int parts = kernel->split(3);
  for (int part = 0; part < parts; ++part) {
    kernel->run_part(made.wide_input.data(), found.data(), part);
  }
  ASSERT_EQ(found, expected) << parts << " parts, " << about;
}

TEST(Conv16, HasTheBitsOfTheDefinitionOnEachInstructionSet) {
  testing::Draw draw(6);
  for (int i = 0; i < testing::case_count(); ++i) {
    const auto made = testing::draw_conv16(draw, testing::draw_window(draw));
    const auto expected = convolved(made);
    for (const auto* kernels : all_kernels()) {
      if (kernels->is_supported()) {
        ASSERT_NO_FATAL_FAILURE(expect_convolved(*kernels, made, expected));
      }
    }
  }
}

Requantize draw_for_product(testing::Draw& draw) {
  auto op = draw.requantize(16, 50);
  op.low = static_cast<int>(draw.between(-32768, 0));
  op.high = static_cast<int>(draw.between(0, 32767));
  return op;
}

TEST(Mul16, HasTheBitsOfTheDefinitionOnEachInstructionSet) {
  testing::Draw draw(7);
  for (int i = 0; i < testing::case_count(); ++i) {
    const bool is_by_one = draw.between(0, 4) == 0;
    const auto zeros = draw.between(0, 3);  // Zeros in none, one or both.
    const Mul op{
        .outer = static_cast<int>(draw.between(1, 2)),
        .rows = static_cast<int>(draw.between(1, is_by_one ? 70 : 5)),
        .inner = is_by_one ? 1 : static_cast<int>(draw.between(1, 70)),
        .zero_point_a = (zeros & 1) != 0 ? static_cast<int>(draw.between(-32768, 32767)) : 0,
        .zero_point_b = (zeros & 2) != 0 ? static_cast<int>(draw.between(-32768, 32767)) : 0,
        .requantize = draw_for_product(draw)};
    const auto a =
        draw.values<std::int16_t>(std::int64_t{op.outer} * op.rows * op.inner, -32768, 32767);
    const auto b = draw.values<std::int16_t>(std::int64_t{op.outer} * op.inner, -32768, 32767);
    std::vector<std::int16_t> expected(a.size());
    for (std::size_t j = 0; j < a.size(); ++j) {
      const auto place = j / (std::size_t(op.rows) * op.inner) * op.inner + j % op.inner;
      expected[j] = static_cast<std::int16_t>(requantized(
          op.requantize,
          (std::int64_t{a[j]} - op.zero_point_a) * (std::int64_t{b[place]} - op.zero_point_b)));
    }
    for (const auto* kernels : all_kernels()) {
      if (kernels->is_supported()) {
        auto found = a;  // in place
        kernels->of_16_bits->mul(op, found.data(), b.data(), found.data());
        ASSERT_EQ(found, expected) << kernels->isa;
      }
    }
  }
}

/// The definition of a product.
std::vector<std::int16_t> multiplied(const Matmul& op, const std::vector<std::int16_t>& a,
                                     const std::vector<std::int16_t>& b) {
  std::vector<std::int16_t> out;
  for (int row = 0; row < op.batch * op.rows; ++row) {
    const auto* left = a.data() + std::ptrdiff_t{row} * op.depth;
    for (int column = 0; column < op.columns; ++column) {
      const int right = row / op.rows * op.columns + column;
      const std::int64_t sum = std::inner_product(
          left, left + op.depth, b.data() + std::ptrdiff_t{right} * op.depth, std::int64_t{0},
          std::plus<>(), [](std::int64_t x, std::int64_t y) { return x * y; });
      out.push_back(static_cast<std::int16_t>(requantized(op.requantize, sum)));
    }
  }
  return out;
}

/// Every hundredth is deeper than one sum of 32 bits could be.
Matmul draw_matmul(testing::Draw& draw) {
  const bool is_deep = draw.between(0, 99) == 0;
  Matmul op{.batch = static_cast<int>(draw.between(1, 2)),
            .rows = static_cast<int>(draw.between(1, 14)),
            .columns = static_cast<int>(draw.between(1, 70)),
            .depth = static_cast<int>(is_deep ? draw.between(500, 1100) : draw.between(1, 70)),
            .requantize = draw_for_product(draw)};
  op.requantize.rounding = draw.between(0, 4) == 0 ? Rounding::kHalfEven : Rounding::kHalfUp;
  return op;
}

TEST(Matmul16, HasTheBitsOfTheDefinitionOnEachInstructionSet) {
  testing::Draw draw(8);
  for (int i = 0; i < testing::case_count(); ++i) {
    const Matmul op = draw_matmul(draw);
    const auto a =
        draw.values<std::int16_t>(std::int64_t{op.batch} * op.rows * op.depth, -32768, 32767);
    const auto b =
        draw.values<std::int16_t>(std::int64_t{op.batch} * op.columns * op.depth, -32768, 32767);
    const auto expected = multiplied(op, a, b);
    for (const auto* kernels : all_kernels()) {
      if (kernels->is_supported()) {
        std::vector<std::int16_t> out(expected.size() + 1, 77);
        kernels->of_16_bits->make_matmul(op)->run(a.data(), b.data(), out.data());
        EXPECT_EQ(out.back(), 77) << kernels->isa;
        out.pop_back();
        ASSERT_EQ(out, expected) << kernels->isa << " batch " << op.batch << ", " << op.rows << "x"
                                 << op.depth << " by " << op.columns;
      }
    }
  }
}

/// Exponentials of multiples of 256, and of what is left of a distance.
std::vector<std::int32_t> draw_exponentials(testing::Draw& draw) {
  const double scale = std::ldexp(1.0, static_cast<int>(draw.between(-20, -5)));
  std::vector<std::int32_t> made(512);
  for (int i = 0; i < 256; ++i) {
    made[i] = static_cast<std::int32_t>(std::lround(std::ldexp(std::exp(-256 * i * scale), 30)));
    made[256 + i] = static_cast<std::int32_t>(std::lround(std::ldexp(std::exp(-i * scale), 30)));
  }
  return made;
}

/// Runs `kernel` of each set in place beside the definition's.
template <class Op>
void expect_rows_of_the_definition(void (*Kernels16::*kernel)(const Op&, const std::int16_t*,
                                                              std::int16_t*),
                                   const Op& op, const std::vector<std::int16_t>& in) {
  std::vector<std::int16_t> expected(in.size());
  (kScalarKernels16.*kernel)(op, in.data(), expected.data());
  for (const auto* kernels : all_kernels()) {
    if (kernels->is_supported()) {
      auto found = in;
      (kernels->of_16_bits->*kernel)(op, found.data(), found.data());
      ASSERT_EQ(found, expected) << kernels->isa << " " << op.columns;
    }
  }
}

TEST(Softmax16, HasTheBitsOfTheDefinitionOnEachInstructionSet) {
  testing::Draw draw(9);
  for (int i = 0; i < testing::case_count(); ++i) {
    const auto exponentials = draw_exponentials(draw);
    Softmax op{.rows = draw.between(1, 3),
               .columns = draw.columns(),
               .exponentials = exponentials.data(),
               .requantize = draw.requantize(16, 62)};
    op.requantize.low = static_cast<int>(draw.between(-32768, 0));
    op.requantize.high = static_cast<int>(draw.between(0, 32767));
    op.requantize.rounding = draw.between(0, 4) == 0 ? Rounding::kHalfEven : Rounding::kHalfUp;
    const auto in = draw.values<std::int16_t>(op.rows * op.columns, -32768, 32767);
    ASSERT_NO_FATAL_FAILURE(expect_rows_of_the_definition(&Kernels16::softmax, op, in));
  }
}

TEST(LayerNorm16, HasTheBitsOfTheDefinitionOnEachInstructionSet) {
  testing::Draw draw(10);
  for (int i = 0; i < testing::case_count(); ++i) {
    const std::int64_t columns = draw.columns();
    const std::int64_t most = (std::int64_t{1} << 31) - 1;
    const auto multipliers = draw.values<std::int32_t>(columns, -most, most);
    const auto shifts = draw.values<std::uint8_t>(columns, 16, 62);
    const auto biases =
        draw.values<std::int64_t>(columns, -(std::int64_t{1} << 62), std::int64_t{1} << 62);
    const LayerNorm op{.rows = draw.between(1, 3),
                       .columns = columns,
                       .multipliers = multipliers.data(),
                       .shifts = shifts.data(),
                       .biases = biases.data(),
                       .epsilon = draw.between(0, 1) == 0 ? 1 : draw.between(1, 1 << 30),
                       .epsilon_bits = static_cast<int>(draw.between(0, 1)),
                       .low = static_cast<int>(draw.between(-32768, 0)),
                       .high = static_cast<int>(draw.between(0, 32767))};
    const auto in = draw.values<std::int16_t>(op.rows * columns, -32768, 32767);
    ASSERT_NO_FATAL_FAILURE(expect_rows_of_the_definition(&Kernels16::layer_norm, op, in));
  }
}

TEST(RequantizeWide, IsTheFormulaIn128Bits) {
  auto engine = seeded(1);
  int tie_count = 0;
  for (int i = 0; i < 1000000; ++i) {
    const auto op = draw_requantize(engine);
    const std::int64_t most = (std::int64_t{1} << draw(engine, 1, 47)) - 1;
    const std::int64_t accumulator = draw(engine, 0, 2) == 0 ? -most : draw(engine, -most, most);
    ASSERT_EQ(requantize_wide(op, accumulator), requantized(op, accumulator))
        << accumulator << " * " << op.multiplier << " + " << op.bias << " >> " << op.shift;
    auto other = op;
    other.rounding = Rounding::kHalfUp;
    tie_count += requantized(op, accumulator) != requantized(other, accumulator) ? 1 : 0;
  }
  EXPECT_GT(tie_count, 100);
}

TEST(RequantizeWide, TakesMultipliersBelowZero) {
  auto engine = seeded(2);
  for (int i = 0; i < 100000; ++i) {
    auto op = draw_requantize(engine);
    op.multiplier = -op.multiplier;
    const std::int64_t accumulator = draw(engine, -(std::int64_t{1} << 31), std::int64_t{1} << 31);
    ASSERT_EQ(requantize_wide(op, accumulator), requantized(op, accumulator));
  }
}

TEST(Interpolate, IsTheLineBetweenEntriesRoundedHalfUp) {
  auto engine = seeded(3);
  std::vector<std::int16_t> entries(513);
  std::ranges::generate(entries,
                        [&] { return static_cast<std::int16_t>(draw(engine, -32768, 32767)); });
  entries[511] = -32768;
  entries[512] = 32767;
  std::vector<std::int16_t> values(65536);
  std::iota(values.begin(), values.end(), static_cast<std::int16_t>(-32768));
  for (const auto* kernels : all_kernels()) {
    if (!kernels->is_supported()) {
      continue;
    }
    std::vector<std::int16_t> made(values.size());
    constexpr std::int64_t kSome = 5;  // No vector is full of so few.
    kernels->of_16_bits->table(entries.data(), kSome, values.data(), made.data());
    kernels->of_16_bits->table(entries.data(), std::ssize(values) - kSome, values.data() + kSome,
                               made.data() + kSome);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double fraction = static_cast<double>(i % 128) / 128;
      const double line = entries[i / 128] * (1 - fraction) + entries[i / 128 + 1] * fraction;
      ASSERT_EQ(made[i], std::floor(line + 0.5)) << kernels->isa << " " << values[i];
    }
  }
}

TEST(Conv16, AddsBeyond32Bits) {
  constexpr int kDepth = 2000;
  const std::vector<std::int8_t> weights(kDepth, 127);
  const std::int32_t multiplier = 1 << 30;
  const std::uint8_t shift = 49;
  const std::int64_t bias = std::int64_t{1} << 48;
  const Conv2d conv{.window = {.batch = 1,
                               .in_height = 1,
                               .in_width = 1,
                               .in_channels = kDepth,
                               .out_height = 1,
                               .out_width = 1,
                               .out_channels = 1},
                    .weights = weights.data(),
                    .multipliers = &multiplier,
                    .shifts = &shift,
                    .biases = &bias,
                    .low = -32768,
                    .high = 32767};
  const auto kernel = kScalarKernels16.make_conv2d(conv);
  for (const std::int64_t value : {32767, -32768}) {
    const std::vector<std::int16_t> in(kDepth, static_cast<std::int16_t>(value));
    std::int16_t out = 0;
    kernel->run(in.data(), &out);
    const double sum = static_cast<double>(value) * 127 * kDepth;  // 8e9
    EXPECT_EQ(out, std::floor(sum / (1 << 19) + 0.5));
  }
}

/// 1 << 14 stands for one.
constexpr Requantize kToQ14 = {.multiplier = 1 << 20,
                               .bias = std::int64_t{1} << 35,
                               .shift = 36,
                               .low = -32768,
                               .high = 32767};

TEST(Softmax16, IsThatOfRealNumbersToHalfAStep) {
  constexpr double kScale = 1.0 / 4096;
  std::vector<std::int32_t> exponentials;
  for (const double step : {256 * kScale, kScale}) {
    for (int i = 0; i < 256; ++i) {
      exponentials.push_back(
          static_cast<std::int32_t>(std::round(std::exp(-i * step) * (1 << 30))));
    }
  }
  auto engine = seeded(4);
  for (int i = 0; i < 2000; ++i) {
    const auto columns = draw(engine, 1, 60);
    std::vector<std::int16_t> in(columns);
    std::ranges::generate(in,
                          [&] { return static_cast<std::int16_t>(draw(engine, -9999, 32767)); });
    const Softmax op{
        .rows = 1, .columns = columns, .exponentials = exponentials.data(), .requantize = kToQ14};
    std::vector<std::int16_t> out(columns);
    softmax(op, in.data(), out.data());
    double sum = 0;
    for (const auto value : in) {
      sum += std::exp(value * kScale);
    }
    for (std::int64_t j = 0; j < columns; ++j) {
      // Exponentials of 30 bits leave a few 2^-30 of one, which is 2^14 steps.
      ASSERT_NEAR(out[j], std::exp(in[j] * kScale) / sum * (1 << 14), 0.5 + 1e-3);
    }
  }
}

TEST(LayerNorm16, IsThatOfRealNumbersToHalfAStep) {
  auto engine = seeded(5);
  for (int i = 0; i < 2000; ++i) {
    const auto columns = draw(engine, 2, 60);
    const auto most = draw(engine, 1, 32767);
    std::vector<std::int16_t> in(columns);
    std::ranges::generate(in, [&] { return static_cast<std::int16_t>(draw(engine, -most, most)); });
    const std::vector<std::int32_t> multipliers(columns, -(1 << 20));
    const std::vector<std::uint8_t> shifts(columns, 20 + 23 - 11);
    const std::vector<std::int64_t> biases(columns, std::int64_t{1} << (20 + 23 - 11 - 1));
    const LayerNorm op{.rows = 1,
                       .columns = columns,
                       .multipliers = multipliers.data(),
                       .shifts = shifts.data(),
                       .biases = biases.data(),
                       .low = -32768,
                       .high = 32767};
    std::vector<std::int16_t> out(columns);
    layer_norm(op, in.data(), out.data());
    double sum = 0;
    double squares = 0;
    for (const double value : in) {
      sum += value;
      squares += value * value;
    }
    const double spread = std::sqrt(static_cast<double>(columns) * squares - sum * sum + 1);
    for (std::int64_t j = 0; j < columns; ++j) {
      const double real = -2048 * (static_cast<double>(columns * in[j]) - sum) / spread;
      // 23 bits of fraction leave 2048 * 2^-24 of a step besides.
      ASSERT_NEAR(out[j], real, 0.5 + 2e-4) << columns << " " << j;
    }
  }
}

TEST(Matmul16, AddsBeyond32Bits) {
  const std::vector<std::int16_t> a = {-32768, -32768, -32768, -32768, 1, 2, 3, 4};
  const std::vector<std::int16_t> b = {-32768, -32768, -32768, -32768, 5, 6, 7, 8};
  const Matmul op{
      .batch = 1,
      .rows = 2,
      .columns = 2,
      .depth = 4,
      .requantize = {.multiplier = 1 << 20, .bias = 0, .shift = 40, .low = -32768, .high = 32767}};
  std::vector<std::int16_t> out(4);
  make_matmul16(op)->run(a.data(), b.data(), out.data());
  EXPECT_EQ(out, (std::vector<std::int16_t>{4096, -1, -1, 0}));
}

}  // namespace
}  // namespace fixedpoint
