#include "fixedpoint/transformer.h"

#include "fixedpoint/format.h"
#include "fixedpoint/kernels.h"
#include "fixedpoint/masked_softmax.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/testing/random_cases.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <ostream>
#include <string>
#include <vector>

namespace fixedpoint {
namespace {

using testing::case_count;
using testing::Draw;

#if defined(__x86_64__)
TEST(DotRows, GivesTheSumsOfTheDefinition) {
  if (!avx2_kernels().is_supported()) {
    GTEST_SKIP() << "this processor has no AVX2";
  }
  Draw draw(1);
  for (int i = 0; i < case_count(); ++i) {
    const int columns = static_cast<int>(draw.between(1, 11));
    const int depth = kDotAlignment * static_cast<int>(draw.between(1, 5));
    const auto a = draw.values<std::int16_t>(depth, -255, 255);
    const auto b = draw.values<std::int16_t>(std::int64_t{columns} * depth, -255, 255);
    std::vector<std::int32_t> expected(columns);
    std::vector<std::int32_t> found(columns);
    dot_rows(a.data(), b.data(), columns, depth, expected.data());
    dot_rows_avx2(a.data(), b.data(), columns, depth, found.data());
    ASSERT_EQ(found, expected);
  }
}
#endif

/// How GoogleTest names them, rather than by an address.
struct Named {
  const Kernels* kernels;
  friend void PrintTo(const Named& named, std::ostream* out) { *out << named.kernels->isa; }
};

std::vector<Named> named_kernels() {
  std::vector<Named> all;
  for (const auto* kernels : all_kernels()) {
    all.push_back({kernels});
  }
  return all;
}

class EachTransformer : public ::testing::TestWithParam<Named> {
 protected:
  void SetUp() override {
    if (!kernels().is_supported()) {
      GTEST_SKIP() << "this processor has no " << kernels().isa;
    }
  }
  const Kernels& kernels() const { return *GetParam().kernels; }
};

TEST_P(EachTransformer, MultipliesToTheBitsOfTheDefinition) {
  Draw draw(2);
  for (int i = 0; i < case_count() / 4; ++i) {
    Matmul op{.batch = static_cast<int>(draw.between(1, 2)),
              .rows = static_cast<int>(draw.between(1, 40)),
              .columns = static_cast<int>(draw.between(1, 70)),
              .depth = static_cast<int>(draw.between(1, 140)),
              .zero_point_a = static_cast<int>(draw.between(-128, 127)),
              .zero_point_b = static_cast<int>(draw.between(-128, 127)),
              .requantize = draw.requantize(20, 50)};
    if (draw.between(0, 7) == 0) {
      op.zero_point_a = op.zero_point_b = -128;
    }
    if (draw.between(0, 7) == 0) {
      op.requantize.rounding = Rounding::kHalfEven;
    }
    const auto a = draw.bytes(std::int64_t{op.batch} * op.rows * op.depth);
    const auto b = draw.bytes(std::int64_t{op.batch} * op.columns * op.depth);
    std::vector<std::int8_t> expected(std::size_t(op.batch) * op.rows * op.columns);
    auto found = expected;
    make_matmul(op)->run(a.data(), b.data(), expected.data());
    const auto kernel = kernels().make_matmul(op);
    const auto others = draw.bytes(static_cast<std::int64_t>(a.size() + b.size()));
    kernel->run(others.data(), others.data() + a.size(), found.data());
    kernel->run(a.data(), b.data(), found.data());
    ASSERT_EQ(found, expected) << op.rows << " " << op.columns << " " << op.depth;
  }
}

TEST_P(EachTransformer, TakesSoftmaxToTheBitsOfTheDefinition) {
  Draw draw(3);
  for (int i = 0; i < case_count(); ++i) {
    std::array<std::int32_t, 256> exponentials;
    const double scale = std::ldexp(1.0, static_cast<int>(draw.between(-12, 3)));
    for (int d = 0; d < 256; ++d) {
      exponentials[d] =
          static_cast<std::int32_t>(std::lround(std::ldexp(std::exp(-d * scale), 30)));
    }
    const Softmax op{.rows = draw.between(1, 3),
                     .columns = draw.columns(),
                     .exponentials = exponentials.data(),
                     .requantize = draw.requantize(40, 62)};
    auto found = draw.bytes(op.rows * op.columns);
    std::vector<std::int8_t> expected(found.size());
    softmax(op, found.data(), expected.data());
    kernels().softmax(op, found.data(), found.data());  // in place
    ASSERT_EQ(found, expected) << op.columns;
  }
}

/// Rows of which one in four keeps nothing, one in four everything; read with a stride of 0, 1
/// or 2.
struct MaskCase {
  MaskedSoftmax op;
  std::vector<std::uint8_t> bytes;
};

MaskCase draw_mask(Draw& draw, const Softmax& softmax) {
  const std::int64_t stride = draw.between(0, 2);
  const std::int64_t row = softmax.columns * stride + draw.between(0, 3);
  MaskCase made{.op = {.softmax = softmax,
                       .mask = {.rank = 2,
                                .offset = draw.between(0, 2),
                                .dims = {softmax.rows, softmax.columns},
                                .strides = {row, stride}},
                       .masks_nonzero = draw.between(0, 1) == 1,
                       .is_equal_where_empty = draw.between(0, 1) == 1},
                .bytes = draw.values<std::uint8_t>(
                    2 + softmax.rows * row + (softmax.columns - 1) * stride + 1, 0, 2)};
  for (std::int64_t i = 0; i < softmax.rows && row > 0; ++i) {
    const std::int64_t kind = draw.between(0, 3);
    if (kind < 2) {
      std::fill_n(made.bytes.begin() + made.op.mask.offset + i * row, row,
                  static_cast<std::uint8_t>(kind));
    }
  }
  return made;
}

TEST_P(EachTransformer, MasksSoftmaxToTheBitsOfTheDefinition) {
  Draw draw(6);
  std::array<std::int32_t, 256> exponentials;
  for (int d = 0; d < 256; ++d) {
    exponentials[d] = static_cast<std::int32_t>(std::lround(std::ldexp(std::exp(-d * 0.03), 30)));
  }
  for (int i = 0; i < case_count(); ++i) {
    const Softmax softmax{.rows = draw.between(1, 3),
                          .columns = draw.columns(),
                          .exponentials = exponentials.data(),
                          .requantize = draw.requantize(40, 62)};
    const auto [op, mask] = draw_mask(draw, softmax);
    const auto in = draw.bytes(softmax.rows * softmax.columns);
    std::vector<std::int8_t> expected(in.size());
    auto found = draw.bytes(static_cast<std::int64_t>(in.size()));
    masked_softmax(op, in.data(), mask.data(), expected.data());
    kernels().masked_softmax(op, in.data(), mask.data(), found.data());
    ASSERT_EQ(found, expected) << softmax.columns << " " << op.mask_stride();
  }
}

TEST_P(EachTransformer, NormalizesLayersToTheBitsOfTheDefinition) {
  Draw draw(4);
  for (int i = 0; i < case_count(); ++i) {
    const std::int64_t columns = draw.columns();
    const auto multipliers = draw.values<std::int32_t>(columns, -((std::int64_t{1} << 31) - 1),
                                                       (std::int64_t{1} << 31) - 1);
    const auto shifts = draw.values<std::uint8_t>(columns, 1, 62);
    const auto biases =
        draw.values<std::int64_t>(columns, -(std::int64_t{1} << 60), std::int64_t{1} << 60);
    const LayerNorm op{.rows = draw.between(1, 3),
                       .columns = columns,
                       .multipliers = multipliers.data(),
                       .shifts = shifts.data(),
                       .biases = biases.data(),
                       .epsilon = draw.between(0, 1) == 0 ? 1 : draw.between(1, 1 << 30),
                       .epsilon_bits = static_cast<int>(draw.between(0, 7)),
                       .low = static_cast<int>(draw.between(-128, 0)),
                       .high = static_cast<int>(draw.between(0, 127))};
    auto found = draw.bytes(op.rows * columns);
    std::vector<std::int8_t> expected(found.size());
    layer_norm(op, found.data(), expected.data());
    kernels().layer_norm(op, found.data(), found.data());  // in place
    ASSERT_EQ(found, expected) << columns;
  }
}

INSTANTIATE_TEST_SUITE_P(All, EachTransformer, ::testing::ValuesIn(named_kernels()),
                         [](const auto& tested) { return std::string(tested.param.kernels->isa); });

TEST(InverseRoot, IsThatOfTheLargestRootBelow) {
  Draw draw(5);
  for (int i = 0; i < 20 * case_count(); ++i) {
    const std::int64_t near = draw.between(1, (std::int64_t{1} << draw.between(1, 31)) - 1);
    const std::int64_t value = std::max<std::int64_t>(near * near + draw.between(-1, 1), 1);
    const auto inverse = inverse_root(value);
    const int half = 61 - 23 - inverse.shift;
    const std::int64_t normalized = value << (2 * half);
    ASSERT_TRUE(normalized >= std::int64_t{1} << 60 && normalized < std::int64_t{1} << 62);
    auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(normalized)));
    while (root * root > normalized) {
      --root;
    }
    while ((root + 1) * (root + 1) <= normalized) {
      ++root;
    }
    ASSERT_EQ(inverse.factor, (std::int64_t{1} << 61) / root) << value;
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

TEST(MaskedSoftmax, GivesMaskedPlacesNothingWhateverTheyHold) {
  std::array<std::int32_t, 256> exponentials = {1 << 30};
  MaskedSoftmax op{.softmax = {.rows = 3,
                               .columns = 4,
                               .exponentials = exponentials.data(),
                               .requantize = to_scale(30, 7)},
                   .mask = {.rank = 2, .dims = {3, 4}, .strides = {4, 1}}};
  const std::array<std::int8_t, 12> in = {5, 5, 127, 5, 1, 2, 3, 4, 127, 127, 127, -128};
  const std::array<std::uint8_t, 12> mask = {0, 0, 1, 255, 1, 1, 1, 1, 1, 1, 1, 0};
  std::array<std::int8_t, 12> out = {};
  masked_softmax(op, in.data(), mask.data(), out.data());
  EXPECT_EQ(out, (std::array<std::int8_t, 12>{64, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 127}));
  op.is_equal_where_empty = true;
  masked_softmax(op, in.data(), mask.data(), out.data());
  EXPECT_EQ(out, (std::array<std::int8_t, 12>{64, 64, 0, 0, 32, 32, 32, 32, 0, 0, 0, 127}));
  op.masks_nonzero = false;
  masked_softmax(op, in.data(), mask.data(), out.data());
  EXPECT_EQ(out, (std::array<std::int8_t, 12>{0, 0, 127, 0, 0, 0, 0, 127, 43, 43, 43, 0}));
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
  for (int i = 0; i < case_count(); ++i) {
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
