#include "assay/tensor/small_float.h"

#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <limits>

namespace assay {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Float16, DecodesNormalsDenormalsAndSpecials) {
  EXPECT_EQ(double_from_float16(0x3c00), 1.0);
  EXPECT_EQ(double_from_float16(0xc000), -2.0);
  EXPECT_EQ(double_from_float16(0x7bff), 65504.0);
  EXPECT_EQ(double_from_float16(0x0400), 0x1p-14);
  EXPECT_EQ(double_from_float16(0x03ff), 1023 * 0x1p-24);
  EXPECT_EQ(double_from_float16(0x0001), 0x1p-24);
  EXPECT_EQ(double_from_float16(0x7c00), kInfinity);
  EXPECT_EQ(double_from_float16(0xfc00), -kInfinity);
  EXPECT_TRUE(std::isnan(double_from_float16(0x7e01)));
  EXPECT_TRUE(std::signbit(double_from_float16(0x8000)));
}

TEST(BFloat16, DecodesNormalsDenormalsAndSpecials) {
  EXPECT_EQ(double_from_bfloat16(0x3f80), 1.0);
  EXPECT_EQ(double_from_bfloat16(0x4049), 3.140625);
  EXPECT_EQ(double_from_bfloat16(0x0001), 0x1p-133);
  EXPECT_EQ(double_from_bfloat16(0xff80), -kInfinity);
  EXPECT_TRUE(std::isnan(double_from_bfloat16(0x7fc0)));
}

TEST(SmallFloats, EveryBitPatternSurvivesTheRoundTrip) {
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const auto pattern = static_cast<std::uint16_t>(bits);
    const double half = double_from_float16(pattern);
    const double brain = double_from_bfloat16(pattern);
    if (std::isnan(half)) {
      EXPECT_TRUE(std::isnan(double_from_float16(float16_from_double(half))));
    } else {
      ASSERT_EQ(float16_from_double(half), pattern);
    }
    if (std::isnan(brain)) {
      EXPECT_TRUE(std::isnan(double_from_bfloat16(bfloat16_from_double(brain))));
    } else {
      ASSERT_EQ(bfloat16_from_double(brain), pattern);
    }
  }
}

TEST(SmallFloats, RoundToNearestWithTiesToEven) {
  EXPECT_EQ(float16_from_double(1 + 0x1p-11), 0x3c00);            // Tie, down to even.
  EXPECT_EQ(float16_from_double(1 + 3 * 0x1p-11), 0x3c02);        // Tie, up to even.
  EXPECT_EQ(float16_from_double(1 + 0x1p-11 + 0x1p-40), 0x3c01);  // Just above the tie.
  EXPECT_EQ(float16_from_double(0x1p-25), 0x0000);
  EXPECT_EQ(float16_from_double(0x1.8p-25), 0x0001);
  EXPECT_EQ(float16_from_double(65519.9), 0x7bff);
  EXPECT_EQ(float16_from_double(65520), 0x7c00);
  EXPECT_EQ(float16_from_double(-1e300), 0xfc00);
  EXPECT_EQ(bfloat16_from_double(1 + 0x1p-8), 0x3f80);
  EXPECT_EQ(bfloat16_from_double(1 + 3 * 0x1p-8), 0x3f82);
}

}  // namespace
}  // namespace assay
