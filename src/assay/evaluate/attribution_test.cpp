#include "assay/evaluate/attribution.h"

#include <cmath>
#include <cstddef>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/attribution.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::size_t kSize = 400;

/// A chain of layers a, b, c and the output, which is c's result. What each of three runs of it
/// computes differs by the noise that is put in at a layer and handed on.
class AttributionTest : public testing::Test {
 protected:
  using Sample = std::vector<Tensor>;

  /// Noise put in at a, b, c, as amplitudes relative to the values.
  std::vector<Sample> run(const std::vector<double>& exact, const std::vector<double>& noise) {
    std::normal_distribution<double> normal;
    std::vector<double> values = exact;
    std::vector<Tensor> layers;
    for (const double amplitude : noise) {
      for (auto& value : values) {
        value += amplitude * normal(random_);
      }
      layers.push_back(tensor_from_doubles(values, {1, kSize}, Dtype::kFloat64));
    }
    return {{layers.back(), layers[0], layers[1], layers[2]}};
  }

  std::vector<double> exact() {
    std::normal_distribution<double> normal;
    std::vector<double> values(kSize);
    for (auto& value : values) {
      value = normal(random_);
    }
    return values;
  }

  static std::vector<double> values_of(const std::vector<Sample>& samples, std::size_t output) {
    return doubles_from_tensor(samples.front()[output].view());
  }

  std::mt19937_64 random_{1};
  std::vector<LayerOrigin> layers_ = {{.name = "a", .module = "net.a"},
                                      {.name = "b", .module = "net.b", .inputs = {"a"}},
                                      {.name = "c", .module = "net.c", .inputs = {"b"}}};
};

TEST_F(AttributionTest, ABadQuantizationRangeIsQuantizationsFaultAtItsLayer) {
  const auto values = exact();
  const auto floating = run(values, {0, 0, 0});
  const auto quantized = run(values, {0.01, 0.3, 0.01});
  auto results = quantized;  // The backend computes what the quantized graph says.
  const auto found =
      attribute_error(
          {.layers = layers_, .results = results, .quantized = quantized, .floating = floating})
          .value();
  EXPECT_NEAR(*found.whole.quantization, 0.09, 0.02);
  EXPECT_EQ(*found.whole.backend, 0);
  EXPECT_GT(*found.layers[1].added.quantization, 0.9 * 0.07);
  EXPECT_LT(*found.layers[0].added.quantization, 0.001);
  EXPECT_LT(*found.layers[2].added.quantization, 0.01);
  EXPECT_THAT(found.notes[0], StartsWith("the larger part of the error is quantization's"));
  EXPECT_THAT(found.notes[1], StartsWith("quantization adds most of the error in net.b"));
}

TEST_F(AttributionTest, ALayerThatOverflowsIsNamedFirst) {
  const auto floating = run(exact(), {0, 0, 0});
  auto quantized = floating;
  for (const std::size_t after : {std::size_t{0}, std::size_t{2}, std::size_t{3}}) {  // b, then c
    auto values = values_of(floating, after);
    values[7] = std::numeric_limits<double>::infinity();
    quantized[0][after] = tensor_from_doubles(values, {1, kSize}, Dtype::kFloat64);
  }
  const auto found =
      attribute_error(
          {.layers = layers_, .results = quantized, .quantized = quantized, .floating = floating})
          .value();
  EXPECT_THAT(found.notes[0], StartsWith("with quantization, net.b is the first whose NaN and"));
  EXPECT_FALSE(found.notes.size() > 1 && found.notes[1].starts_with("with the backend"));
}

TEST_F(AttributionTest, AWrongKernelIsTheBackendsFaultAtItsLayer) {
  const auto values = exact();
  const auto floating = run(values, {0, 0, 0});
  const auto quantized = run(values, {0.02, 0.02, 0.02});
  auto results = quantized;
  for (const std::size_t after : {std::size_t{0}, std::size_t{3}}) {  // The output and c.
    auto wrong = values_of(quantized, after);
    for (auto& value : wrong) {
      value *= 1.5;
    }
    results[0][after] = tensor_from_doubles(wrong, {1, kSize}, Dtype::kFloat64);
  }
  const auto found =
      attribute_error(
          {.layers = layers_, .results = results, .quantized = quantized, .floating = floating})
          .value();
  EXPECT_NEAR(*found.whole.backend, 0.25, 1e-9);
  EXPECT_EQ(*found.layers[0].added.backend, 0);
  EXPECT_EQ(*found.layers[1].added.backend, 0);
  EXPECT_NEAR(*found.layers[2].added.backend, 0.25, 1e-9);
  EXPECT_THAT(found.notes[0], StartsWith("the larger part of the error is the backend's"));
  EXPECT_THAT(found.notes.back(), HasSubstr("the backend adds most of the error in net.c (100 %)"));
}

TEST_F(AttributionTest, WithoutQuantizationTheBackendIsHeldAgainstTheFloatNetwork) {
  const auto values = exact();
  const auto floating = run(values, {0, 0, 0});
  const auto results = run(values, {0, 0.1, 0});
  const auto found =
      attribute_error({.layers = layers_, .results = results, .floating = floating}).value();
  EXPECT_FALSE(found.whole.quantization);
  EXPECT_NEAR(*found.whole.backend, 0.01, 0.003);
  EXPECT_EQ(found.whole.backend, found.whole.total);
}

TEST_F(AttributionTest, WhatIsNoNumberIsAbsent) {
  const auto values = exact();
  const auto floating = run(values, {0, 0, 0});
  auto results = floating;
  results[0][1] =
      tensor_from_doubles(std::vector<double>(kSize, std::nan("")), {1, kSize}, Dtype::kFloat64);
  const auto found =
      attribute_error({.layers = layers_, .results = results, .floating = floating}).value();
  EXPECT_FALSE(found.layers[0].noise.backend);
  EXPECT_EQ(found.layers[1].noise.backend, 0);
}

TEST_F(AttributionTest, ALayerThatIsFedExactInputsAnswersForItselfAlone) {
  const auto values = exact();
  const auto floating = run(values, {0, 0, 0});
  const auto results = run(values, {0, 0.2, 0});
  auto found =
      attribute_error({.layers = layers_, .results = results, .floating = floating}).value();
  EXPECT_GT(*found.layers[2].noise.backend, 0.02);  // Handed on by b.
  // The pieces come in another order, and c's is what it has to be.
  const std::vector<LayerOrigin> pieces = {layers_[2], layers_[1]};
  const std::vector<Sample> exact_pieces = {{floating[0][3], floating[0][2]}};
  const std::vector<Sample> own_pieces = {{floating[0][3], results[0][2]}};
  ASSERT_TRUE(
      judge_alone({.layers = pieces, .results = own_pieces, .floating = exact_pieces}, found));
  EXPECT_FALSE(found.layers[0].alone.backend);
  EXPECT_NEAR(*found.layers[1].alone.backend, 0.04, 0.01);
  EXPECT_EQ(found.layers[2].alone.backend, 0);
  EXPECT_THAT(found.notes.back(),
              StartsWith("on exact inputs, the backend error is largest in net.b (14"));
}

TEST_F(AttributionTest, RefusesPiecesOfAnotherCount) {
  const auto floating = run(exact(), {0, 0, 0});
  auto found =
      attribute_error({.layers = layers_, .results = floating, .floating = floating}).value();
  EXPECT_EQ(judge_alone({.layers = layers_, .results = floating, .floating = floating}, found)
                .error()
                .code,
            ErrorCode::kInvalidArgument);
}

TEST_F(AttributionTest, RefusesOtherCountsOfOutputs) {
  const auto floating = run(exact(), {0, 0, 0});
  auto results = floating;
  results[0].pop_back();
  EXPECT_EQ(
      attribute_error({.layers = layers_, .results = results, .floating = floating}).error().code,
      ErrorCode::kInvalidArgument);
  layers_.push_back({.name = "d"});
  EXPECT_FALSE(attribute_error({.layers = layers_, .results = floating, .floating = floating}));
}

TEST_F(AttributionTest, ALayerWithOtherInfinitiesIsBeyondEveryTolerance) {
  const auto floating = run(exact(), {0, 0, 0});
  auto results = floating;
  auto values = values_of(floating, 2);  // b's.
  values[7] = std::numeric_limits<double>::infinity();
  results[0][2] = tensor_from_doubles(values, {1, kSize}, Dtype::kFloat64);
  auto found = attribute_error({.layers = layers_, .results = results, .floating = floating});
  ASSERT_TRUE(found);
  EXPECT_THAT(found->notes, testing::Contains(HasSubstr("net.b is the first whose NaN and")));
  note_first_beyond(10, *found);
  EXPECT_THAT(
      found->notes.back(),
      StartsWith("the backend first leaves its tolerance (sqnr_db >= 10) in net.b: no fin"));
}

TEST_F(AttributionTest, ADeadLayerHasNoOtherInfinities) {
  auto floating = run(exact(), {0, 0, 0});
  auto results = floating;
  floating[0][2] = tensor_from_doubles(std::vector<double>(kSize), {1, kSize}, Dtype::kFloat64);
  const auto found = attribute_error({.layers = layers_, .results = results, .floating = floating});
  ASSERT_TRUE(found);
  EXPECT_THAT(found->notes, testing::Contains(HasSubstr("net.b is the first whose reference is "
                                                        "all zeros, and it is not")));
  EXPECT_THAT(found->notes, testing::Not(testing::Contains(HasSubstr("infinities"))));
}

TEST_F(AttributionTest, ShowsNoNoiseAsAnInfiniteRatio) {
  const auto floating = run(exact(), {0, 0, 0});
  const auto quantized = run(values_of(floating, 0), {0.01, 0, 0});
  const auto found = attribute_error(
      {.layers = layers_, .results = quantized, .quantized = quantized, .floating = floating});
  ASSERT_TRUE(found);
  EXPECT_THAT(found->notes.front(), testing::EndsWith("the backend's is ∞ dB"));
}

TEST_F(AttributionTest, NamesTheFirstLayerBeyondTheTolerance) {
  const auto values = exact();
  const auto floating = run(values, {0, 0, 0});
  const auto results = run(values, {0.001, 0.1, 0.001});  // 60 dB, then 20 dB, handed on.
  auto found = attribute_error({.layers = layers_, .results = results, .floating = floating});
  ASSERT_TRUE(found);
  note_first_beyond(10, *found);
  EXPECT_THAT(found->notes, testing::Not(testing::Contains(HasSubstr("first leaves"))));
  note_first_beyond(40, *found);
  EXPECT_THAT(found->notes.back(),
              StartsWith("the backend first leaves its tolerance (sqnr_db >= 40) in net.b: "));
}

}  // namespace
}  // namespace assay
