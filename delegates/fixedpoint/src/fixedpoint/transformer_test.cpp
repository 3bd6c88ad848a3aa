#include "fixedpoint/transformer.h"

#include "fixedpoint/kernels.h"
#include "fixedpoint/operations.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace fixedpoint {
namespace {

constexpr int kCases = 10000;

std::vector<std::int16_t> draw(std::mt19937& engine, int count) {
  const bool is_extreme = engine() % 3 == 0;
  std::uniform_int_distribution<int> value(-255, 255);
  std::vector<std::int16_t> values(count);
  for (auto& one : values) {
    one = static_cast<std::int16_t>(is_extreme ? (engine() % 2 == 0 ? -255 : 255) : value(engine));
  }
  return values;
}

TEST(DotRows, GivesTheSumsOfTheDefinitionOnEveryInstructionSet) {
  std::mt19937 engine(1);
  for (int i = 0; i < kCases; ++i) {
    const int columns = 1 + static_cast<int>(engine() % 11);
    const int depth = kDotAlignment * (1 + static_cast<int>(engine() % 5));
    const auto a = draw(engine, depth);
    const auto b = draw(engine, columns * depth);
    std::vector<std::int32_t> expected(columns);
    for (int j = 0; j < columns; ++j) {
      for (int k = 0; k < depth; ++k) {
        expected[j] += a[k] * b[j * depth + k];
      }
    }
    for (const auto* kernels : all_kernels()) {
      if (kernels->is_supported()) {
        std::vector<std::int32_t> found(columns);
        kernels->dot_rows(a.data(), b.data(), columns, depth, found.data());
        ASSERT_EQ(found, expected) << kernels->isa;
      }
    }
  }
}

/// Multiplies what has `bits` of fraction to a result of scale 2^-`result`.
Requantize to_scale(int bits, int result) {
  const int shift = bits - result;
  return {.multiplier = 1, .bias = std::int64_t{1} << (shift - 1), .shift = shift};
}

TEST(Softmax, OfEqualValuesIsTheirShare) {
  std::array<std::int32_t, 256> exponentials = {1 << 30};
  const Softmax op{
      .rows = 1, .columns = 4, .exponentials = exponentials.data(), .requantize = to_scale(30, 7)};
  const std::array<std::int8_t, 4> in = {5, 5, 5, 5};
  std::array<std::int8_t, 4> out = {};
  softmax(op, in.data(), out.data());
  EXPECT_EQ(out, (std::array<std::int8_t, 4>{32, 32, 32, 32}));
  const std::array<std::int8_t, 4> one = {-128, 127, -128, 0};
  softmax(op, one.data(), out.data());
  EXPECT_EQ(out, (std::array<std::int8_t, 4>{0, 127, 0, 0}));
}

TEST(LayerNorm, HasTheMeanAndTheSpreadThatItPromises) {
  constexpr int kColumns = 8;
  std::vector<std::int32_t> multipliers(kColumns, 1 << 20);
  multipliers[7] = -multipliers[7];
  const std::vector<std::uint8_t> shifts(kColumns, 20 + 23 - 5);
  const std::vector<std::int64_t> biases(kColumns, std::int64_t{1} << (20 + 23 - 5 - 1));
  const LayerNorm op{.rows = 2,
                     .columns = kColumns,
                     .multipliers = multipliers.data(),
                     .shifts = shifts.data(),
                     .biases = biases.data()};
  const std::vector<std::int8_t> in = {-128, 127, -128, 127, -128, 127, -128, 127,
                                       9,    9,   9,    9,   9,    9,   9,    9};
  std::vector<std::int8_t> out(in.size());
  layer_norm(op, in.data(), out.data());
  EXPECT_EQ(
      out, (std::vector<std::int8_t>{-32, 32, -32, 32, -32, 32, -32, -32, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(LayerNorm, IsThatOfRealNumbersToHalfAStep) {
  std::mt19937 engine(2);
  for (int i = 0; i < kCases; ++i) {
    const int columns = 2 + static_cast<int>(engine() % 40);
    std::vector<std::int8_t> in(columns);
    std::ranges::generate(in, [&] { return static_cast<std::int8_t>(engine() % 256 - 128); });
    const std::vector<std::int32_t> multipliers(columns, 1 << 20);
    const std::vector<std::uint8_t> shifts(columns, 20 + 23 - 4);
    const std::vector<std::int64_t> biases(columns, std::int64_t{1} << (20 + 23 - 4 - 1));
    const LayerNorm op{.rows = 1,
                       .columns = columns,
                       .multipliers = multipliers.data(),
                       .shifts = shifts.data(),
                       .biases = biases.data()};
    std::vector<std::int8_t> out(columns);
    layer_norm(op, in.data(), out.data());
    double sum = 0;
    double squares = 0;
    for (const auto value : in) {
      sum += value;
      squares += value * value;
    }
    const double spread = std::sqrt(columns * squares - sum * sum + 1);
    for (int j = 0; j < columns; ++j) {
      const double real = std::min(16 * (columns * in[j] - sum) / spread, 127.0);
      // 23 bits of fraction leave 16 * 2^-24 of a step besides.
      ASSERT_NEAR(out[j], std::max(real, -128.0), 0.500002) << columns << " " << j;
    }
  }
}

TEST(ShiftRight, HalfEvenDiffersInTiesAlone) {
  for (int value = -40; value <= 40; ++value) {
    const std::int64_t with_half = value + 4;  // a shift by three
    const auto up = shift_right(with_half, 3, Rounding::kHalfUp);
    const auto even = shift_right(with_half, 3, Rounding::kHalfEven);
    EXPECT_EQ(up, static_cast<std::int64_t>(std::floor(value / 8.0 + 0.5))) << value;
    EXPECT_EQ(even, static_cast<std::int64_t>(std::nearbyint(value / 8.0))) << value;
  }
}

}  // namespace
}  // namespace fixedpoint
