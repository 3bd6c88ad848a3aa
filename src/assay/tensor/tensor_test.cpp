#include "assay/tensor/tensor.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "assay/base/result.h"
#include "assay/tensor/dtype.h"

namespace assay {
namespace {

using ::testing::ElementsAre;

template <class T>
Tensor tensor_of(Dtype dtype, std::initializer_list<T> values) {
  auto tensor = Tensor::zeros(dtype, {static_cast<std::int64_t>(values.size())});
  std::memcpy(tensor.data.data(), values.begin(), tensor.data.size());
  return tensor;
}

TEST(Shape, CountsElementsOfScalarsAndEmptyTensors) {
  EXPECT_EQ(count_elements(Shape{}), 1);
  EXPECT_EQ(count_elements(Shape{2, 0, 3}), 0);
  EXPECT_EQ(count_elements(Shape{2, 5, 3}), 30);
  EXPECT_EQ(count_elements(Shape{1LL << 32, 1LL << 32}), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(count_elements(Shape{1LL << 32, 1LL << 32, 0}), 0);
  EXPECT_EQ(text_from_shape(Shape{1, 3, 8}), "1x3x8");
  EXPECT_EQ(text_from_shape(Shape{}), "scalar");
  EXPECT_EQ(text_from_shape(Shape{1, kUnboundDimension}), "1x?");
}

TEST(Shape, TellsASizeInBytesOnlyWhereItCanBeCounted) {
  EXPECT_EQ(size_in_bytes(Dtype::kUInt32, Shape{2, 3}), 24U);
  EXPECT_EQ(size_in_bytes(Dtype::kFloat64, Shape{}), 8U);
  for (const auto& shape : {Shape{1LL << 32, 1LL << 32}, Shape{1LL << 60}, Shape{-1, 4},
                            Shape{-1, 0}, Shape{std::numeric_limits<std::int64_t>::max(), 2}}) {
    EXPECT_EQ(size_in_bytes(Dtype::kFloat64, shape), std::nullopt) << text_from_shape(shape);
  }
  const auto status = check_size({.name = "x", .shape = {1LL << 32, 1LL << 32}});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kCorrupt);
}

TEST(DoublesFromTensor, ConvertsEveryDtype) {
  const auto doubles = [](const Tensor& tensor) { return doubles_from_tensor(tensor.view()); };
  EXPECT_THAT(doubles(tensor_of<double>(Dtype::kFloat64, {0.1, -2})), ElementsAre(0.1, -2));
  EXPECT_THAT(doubles(tensor_of<float>(Dtype::kFloat32, {0.5F, -2})), ElementsAre(0.5, -2));
  EXPECT_THAT(doubles(tensor_of<std::uint16_t>(Dtype::kFloat16, {0x3c00})), ElementsAre(1));
  EXPECT_THAT(doubles(tensor_of<std::uint16_t>(Dtype::kBFloat16, {0xc000})), ElementsAre(-2));
  EXPECT_THAT(doubles(tensor_of<std::int64_t>(Dtype::kInt64, {-5'000'000'000})), ElementsAre(-5e9));
  EXPECT_THAT(doubles(tensor_of<std::int32_t>(Dtype::kInt32, {-7})), ElementsAre(-7));
  EXPECT_THAT(doubles(tensor_of<std::int16_t>(Dtype::kInt16, {-300})), ElementsAre(-300));
  EXPECT_THAT(doubles(tensor_of<std::int8_t>(Dtype::kInt8, {-128, 127})), ElementsAre(-128, 127));
  EXPECT_THAT(doubles(tensor_of<std::uint8_t>(Dtype::kUInt8, {255})), ElementsAre(255));
  EXPECT_THAT(doubles(tensor_of<std::uint16_t>(Dtype::kUInt16, {65535})), ElementsAre(65535));
  EXPECT_THAT(doubles(tensor_of<std::uint32_t>(Dtype::kUInt32, {4294967295U})),
              ElementsAre(4294967295.0));
  EXPECT_THAT(doubles(tensor_of<std::uint64_t>(Dtype::kUInt64, {1ULL << 63})), ElementsAre(0x1p63));
  EXPECT_THAT(doubles(tensor_of<std::uint8_t>(Dtype::kBool, {0, 1, 7})), ElementsAre(0, 1, 1));
}

TEST(TensorFromDoubles, RoundsToEachFloatingType) {
  // 1 + 2^-11 lies between two float16, 1 + 2^-8 between two bfloat16: ties go to the even one.
  const auto cast = [](double value, Dtype dtype) {
    return doubles_from_tensor(tensor_from_doubles(std::array{value}, {1, 1}, dtype).view());
  };
  EXPECT_THAT(cast(1 + 0x1p-11, Dtype::kFloat16), ElementsAre(1));
  EXPECT_THAT(cast(1 + 0x1p-10, Dtype::kFloat16), ElementsAre(1 + 0x1p-10));
  EXPECT_THAT(cast(1 + 0x1p-8, Dtype::kBFloat16), ElementsAre(1));
  EXPECT_THAT(cast(0.1, Dtype::kFloat32), ElementsAre(double{0.1F}));
  EXPECT_THAT(cast(0.1, Dtype::kFloat64), ElementsAre(0.1));
  EXPECT_THAT(cast(1e6, Dtype::kFloat16), ElementsAre(std::numeric_limits<double>::infinity()));
}

TEST(DoublesFromTensor, KeepsNanAndInfinity) {
  const auto values = doubles_from_tensor(
      tensor_of<float>(Dtype::kFloat32, {std::numeric_limits<float>::quiet_NaN(),
                                         -std::numeric_limits<float>::infinity()})
          .view());
  EXPECT_TRUE(std::isnan(values[0]));
  EXPECT_EQ(values[1], -std::numeric_limits<double>::infinity());
}

TEST(DoublesFromQuantized, AppliesScaleAndZeroPointPerTensorAndPerChannel) {
  const auto one = tensor_of<std::int8_t>(Dtype::kInt8, {-3, 7});
  EXPECT_THAT(*doubles_from_quantized(one.view(), {{0.5}, {-3}, -1}), ElementsAre(0, 5));
  auto channels = tensor_of<std::uint8_t>(Dtype::kUInt8, {1, 2, 3, 4, 5, 6, 7, 8});
  channels.shape = {2, 2, 2};
  EXPECT_THAT(*doubles_from_quantized(channels.view(), {{1, 10}, {0, 1}, 1}),
              ElementsAre(1, 2, 20, 30, 5, 6, 60, 70));
}

TEST(DoublesFromQuantized, RefusesParametersThatDoNotFit) {
  const auto tensor = tensor_of<std::int8_t>(Dtype::kInt8, {1, 2, 3});
  EXPECT_FALSE(doubles_from_quantized(tensor.view(), {{1, 2}, {0, 0}, 0}));
  EXPECT_FALSE(doubles_from_quantized(tensor.view(), {{1}, {}, -1}));
  EXPECT_FALSE(doubles_from_quantized(tensor.view(), {{1}, {0}, 4}));
  EXPECT_FALSE(doubles_from_quantized(tensor.view(), {{}, {}, -1}));
}

// The numbers of an independent implementation: SplitMix64 and the polar method in Python integers
// and floats (math.log), seed 1.
TEST(RandomTensor, GivesTheSameBitsEverywhere) {
  const TensorSpec floats{.name = "", .dtype = Dtype::kFloat32, .shape = {6}, .quantization = {}};
  EXPECT_THAT(doubles_from_tensor(random_tensor(floats, 1).view()),
              ElementsAre(0x1.b7c252p-2, 0x1.95f53p+0, 0x1.d368fep-2, -0x1.b9bb24p-5,
                          -0x1.4eaec2p-2, 0x1.8aa936p+0));
  const TensorSpec integers{.name = "", .dtype = Dtype::kInt64, .shape = {8}, .quantization = {}};
  EXPECT_THAT(doubles_from_tensor(random_tensor(integers, 1).view()),
              ElementsAre(5, 7, 9, 4, 4, 7, 8, 5));
}

TEST(RandomTensor, IsStandardNormal) {
  const TensorSpec spec{
      .name = "", .dtype = Dtype::kFloat64, .shape = {100, 1000}, .quantization = {}};
  double sum = 0;
  double squares = 0;
  int outside_two = 0;
  for (const double x : doubles_from_tensor(random_tensor(spec, 7).view())) {
    sum += x;
    squares += x * x;
    outside_two += std::abs(x) > 2 ? 1 : 0;
  }
  EXPECT_NEAR(sum / 1e5, 0, 0.02);
  EXPECT_NEAR(squares / 1e5, 1, 0.02);
  EXPECT_NEAR(outside_two / 1e5, 0.0455, 0.005);
}

TEST(RandomTensor, FillsEveryDtypeInItsRange) {
  for (const auto& [dtype, name] : kEnumNames<Dtype>) {
    const TensorSpec spec{.name = "", .dtype = dtype, .shape = {500}, .quantization = {}};
    const auto tensor = random_tensor(spec, 3);
    ASSERT_EQ(tensor.data.size(), 500 * size_of_dtype(dtype)) << name;
    const auto values = doubles_from_tensor(tensor.view());
    const std::set<double> distinct(values.begin(), values.end());
    if (!is_floating(dtype)) {
      EXPECT_EQ(distinct.size(), dtype == Dtype::kBool ? 2U : 10U) << name;
      EXPECT_GE(*distinct.begin(), 0) << name;
      EXPECT_LT(*distinct.rbegin(), 10) << name;
    } else {
      EXPECT_GT(distinct.size(), 200U) << name;
    }
  }
}

TEST(RandomTensor, DependsOnTheSeed) {
  const TensorSpec spec{.name = "", .dtype = Dtype::kFloat32, .shape = {16}, .quantization = {}};
  EXPECT_EQ(random_tensor(spec, 5).data, random_tensor(spec, 5).data);
  EXPECT_NE(random_tensor(spec, 5).data, random_tensor(spec, 6).data);
}

TEST(TensorSpec, SurvivesJson) {
  const TensorSpec spec{.name = "logits",
                        .dtype = Dtype::kInt8,
                        .shape = {1, 10},
                        .quantization = Quantization{{0.5}, {-3}, -1}};
  const auto back = nlohmann::json::parse(nlohmann::json(spec).dump()).get<TensorSpec>();
  EXPECT_EQ(back.dtype, Dtype::kInt8);
  EXPECT_EQ(back.shape, spec.shape);
  EXPECT_THAT(back.quantization.value().zero_points, ElementsAre(-3));
}

}  // namespace
}  // namespace assay
