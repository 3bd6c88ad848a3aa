#include "assay/evaluate/error_bounds.h"

#include <cstdint>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/evaluate/evaluate.h"
#include "assay/evaluate/testing/judge.h"
#include "assay/evaluate/tolerance.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/metric.h"
#include "assay/record/summary.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double ratio(double candidate, double reference, double bound) {
  return bound_ratio_between(std::vector{candidate}, std::vector{reference}, std::vector{bound})
      .ratio;
}

TEST(BoundRatio, IsTheErrorInUnitsOfTheBound) {
  EXPECT_EQ(ratio(3, 2, 4), 0.25);
  EXPECT_EQ(ratio(3, 2, 0), kInf);
  EXPECT_EQ(ratio(2, 2, 0), 0);
  EXPECT_EQ(ratio(-0.0, 0.0, 0), 0);
  EXPECT_EQ(ratio(1e300, 2, kInf), 0);
}

TEST(BoundRatio, TakesSpecialValuesByTheirPlace) {
  EXPECT_EQ(ratio(kNan, kNan, 0), 0);
  EXPECT_EQ(ratio(kInf, kInf, 0), 0);
  EXPECT_EQ(ratio(-kInf, kInf, 1e300), kInf);
  EXPECT_EQ(ratio(0, kNan, 1e300), kInf);
  EXPECT_EQ(ratio(kNan, 0, 1e300), kInf);
  EXPECT_EQ(ratio(kInf, 1e308, 1e300), kInf);
  EXPECT_EQ(ratio(kNan, 0, kInf), 0);  // Anything goes.
}

TEST(BoundRatio, NamesTheWorstElement) {
  const auto found = bound_ratio_between(std::vector{1.0, 5.0, 3.5}, std::vector{1.0, 4.0, 3.0},
                                         std::vector{1.0, 10.0, 1.0});
  EXPECT_EQ(found.ratio, 0.5);
  EXPECT_EQ(found.worst, 2U);
}

Tensor doubles(const std::vector<double>& values, Shape shape = {}) {
  if (shape.empty()) {
    shape = {static_cast<std::int64_t>(values.size())};
  }
  return tensor_from_doubles(values, std::move(shape), Dtype::kFloat64);
}

Tensor bound_floats(const std::vector<double>& values, Shape shape = {}) {
  if (shape.empty()) {
    shape = {static_cast<std::int64_t>(values.size())};
  }
  return tensor_from_doubles(values, std::move(shape), Dtype::kFloat32);
}

/// A float32 model, whose reference in float64 is wider.
const TypeRules kOfFloat32{.own = {Dtype::kFloat32}};

Tensor longs(const std::vector<std::int64_t>& values) {
  auto tensor = Tensor::zeros(Dtype::kInt64, {static_cast<std::int64_t>(values.size())});
  std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
  return tensor;
}

/// Three samples of one operator with one output: an element is large, one is NaN, one infinite.
struct OneOutput {
  BoundSamples references = {{doubles({1, -2, 300, 0.5, kNan, kInf})},
                             {doubles({2, 5, -100, 0.25, kNan, -kInf})},
                             {doubles({-3, 1, 50, 0.125, kNan, kInf})}};
  BoundSamples bounds = {{doubles({1e-3, 1e-3, 1e-3, 1e-3, 0, 0})},
                         {doubles({1e-3, 1e-3, 1e-3, 1e-3, 0, 0})},
                         {doubles({1e-3, 1e-3, 1e-3, 1e-3, 0, 0})}};

  [[nodiscard]] AccuracyTable of(const BoundSamples& results, const Json& document = Json::object(),
                                 std::int64_t differing = 0) const {
    return judge({.against = "float64",
                  .results = results,
                  .references = references,
                  .bounds = bounds,
                  .differing_elements = differing},
                 document);
  }
};

TEST(ErrorBounds, DecideInsteadOfTheTolerance) {
  const OneOutput one;
  auto results = one.references;
  results[0][0] = doubles({1.0009, -2, 300, 0.5, kNan, kInf});
  const auto right = one.of(results);
  EXPECT_EQ(right.accuracy, Accuracy::kPass) << right.reason;
  EXPECT_NEAR(double_from_metric(right.outputs[0].metrics.at("error_bound_ratio")), 0.9, 1e-9);
  // 0.002 of 0.5 is nothing beside 300, and no default tolerance would see it.
  results[0][0] = doubles({1, -2, 300, 0.502, kNan, kInf});
  const auto wrong = one.of(results);
  EXPECT_EQ(wrong.accuracy, Accuracy::kFailNumeric);
  EXPECT_THAT(wrong.reason, HasSubstr("error_bound_ratio 2 (<= 1)"));
  EXPECT_THAT(wrong.reason, HasSubstr("sample 0, element [3]: 0.502, expected 0.5 ± 0.001"));
}

TEST(ErrorBounds, TellIntegersApartThatDoublesDoNot) {
  const std::int64_t large = std::int64_t{1} << 60;
  const BoundSamples references = {{longs({large, 3})}, {longs({5, -large})}};
  const BoundSamples bounds = {{doubles({0, 0})}, {doubles({0, 0})}};
  auto results = references;
  const auto judged = [&] {
    return judge(
        {.against = "float64", .results = results, .references = references, .bounds = bounds});
  };
  EXPECT_EQ(judged().accuracy, Accuracy::kPass) << judged().reason;
  results[1][0] = longs({5, 1 - large});
  EXPECT_EQ(judged().accuracy, Accuracy::kFailNumeric);
  EXPECT_THAT(judged().reason, HasSubstr("sample 1, element [1]: -1.1529215e+18 (off by 1)"));
}

TEST(ErrorBounds, AreLoosenedOnlyByAToleranceThatSaysWhy) {
  const OneOutput one;
  auto results = one.references;
  results[1][0] = doubles({2, 5.0035, -100, 0.25, kNan, -kInf});
  EXPECT_EQ(one.of(results).accuracy, Accuracy::kFailNumeric);
  const Json looser = {{"error_bound_ratio", 4}, {"why", "this backend approximates tanh"}};
  EXPECT_EQ(one.of(results, looser).accuracy, Accuracy::kPass);
  const Json other = {{"sqnr_db", 5}, {"why", "of whole networks"}};
  EXPECT_EQ(one.of(results, other).accuracy, Accuracy::kFailNumeric);
}

TEST(ErrorBounds, AreThoseOfTheTypeThatABackendComputesIn) {
  const BoundSamples references(1, {doubles({2.56098938, 0, 70000})});
  const BoundSamples bounds(1, {doubles({0, 0, 0.004})});
  const auto judged = [&](const std::vector<double>& result, const Json& document) {
    const BoundSamples results(1, {bound_floats(result)});
    return judge({.against = "float64",
                  .results = results,
                  .references = references,
                  .bounds = bounds,
                  .types = kOfFloat32},
                 document)
        .accuracy;
  };
  const Json half = {{"computes_in", "float16"}, {"why", "it computes in float16"}};
  const Json brain = {{"computes_in", "bfloat16"}, {"why", "it computes in bfloat16"}};
  const std::vector<double> copied = {2.56054711, 0, 70000};
  EXPECT_EQ(judged(copied, Json::object()), Accuracy::kFailNumeric);
  EXPECT_EQ(judged(copied, half), Accuracy::kPass);
  EXPECT_EQ(judged({2.564, 0, 70000}, half), Accuracy::kFailNumeric) << "1.2 units of float16";
  EXPECT_EQ(judged({2.564, 0, 70000}, brain), Accuracy::kPass);
  EXPECT_EQ(judged({2.56098938, 1e-7, 70000}, half), Accuracy::kFailNumeric);
  EXPECT_EQ(judged({2.56098938, 5e-8, 70000}, half), Accuracy::kPass) << "the least number";
  EXPECT_EQ(judged({2.56098938, 0, 70030}, half), Accuracy::kPass) << "0.004 times 2^13";
  EXPECT_EQ(judged({2.56098938, 0, 70110}, half), Accuracy::kFailNumeric);
  EXPECT_EQ(judged({2.56098938, 0, kInf}, half), Accuracy::kFailNumeric) << "beyond its range";
}

TEST(ErrorBounds, OfSumsInHalfPrecisionDoNotTakeAnyAnswer) {
  const BoundSamples references(1, {doubles({1, -1, 1, 0})});
  const BoundSamples bounds(1, {doubles({1e-4, 1e-4, 1e-4, 1e-4})});  // 0.8 times 2^13.
  const auto judged = [&](double last) {
    const BoundSamples results(1, {bound_floats({1, -1, 1, last})});
    return judge({.against = "float64",
                  .results = results,
                  .references = references,
                  .bounds = bounds,
                  .types = kOfFloat32},
                 {{"computes_in", "float16"}, {"why", "it computes in float16"}})
        .accuracy;
  };
  EXPECT_EQ(judged(0.0135), Accuracy::kPass) << "0.866, the root mean square, by 64";
  EXPECT_EQ(judged(0.0137), Accuracy::kFailNumeric);
}

TEST(ErrorBounds, AreTriedOnTheControls) {
  auto one = OneOutput();
  const auto right = one.of(one.references);
  ASSERT_EQ(right.controls.size(), 4U);
  EXPECT_THAT(right.controls[0], StartsWith("all_zeros: rejected, as it must be"));
  EXPECT_THAT(right.controls[1], StartsWith("other_sample: rejected, as it must be"));
  EXPECT_THAT(right.controls[3], StartsWith("one_element: rejected, as it must be"));
  // Bounds as wide as the values let an element be anything: the check finds nothing.
  for (auto& sample : one.bounds) {
    sample[0] = doubles({1000, 1000, 1000, 1000, 0, 0});
  }
  const auto vacuous = one.of(one.references);
  EXPECT_EQ(vacuous.accuracy, Accuracy::kVacuous);
}

TEST(ErrorBounds, OfAConstantOutputNeedNoOtherSample) {
  const BoundSamples constant = {{doubles({3, 3})}, {doubles({3, 3})}};
  const BoundSamples exact = {{doubles({0, 0})}, {doubles({0, 0})}};
  Evaluation evaluation{
      .against = "float64", .results = constant, .references = constant, .bounds = exact};
  EXPECT_EQ(judge(evaluation).accuracy, Accuracy::kVacuous);
  evaluation.constant_outputs = {0};
  EXPECT_EQ(judge(evaluation).accuracy, Accuracy::kPass);
}

TEST(ErrorBounds, OfZerosByNatureAreTriedOnAnElementThatIsNone) {
  const BoundSamples zeros = {{doubles({0, 0})}, {doubles({0, 0})}};
  BoundSamples bounds = {{doubles({0, 0})}, {doubles({0, 0})}};
  Evaluation evaluation{.against = "float64",
                        .results = zeros,
                        .references = zeros,
                        .bounds = bounds,
                        .constant_outputs = {0}};
  const auto right = judge(evaluation);
  EXPECT_EQ(right.accuracy, Accuracy::kPass) << right.reason;
  EXPECT_THAT(right.controls[3], StartsWith("one_element: rejected, as it must be"));
  bounds = {{doubles({2, 2})}, {doubles({2, 2})}};
  evaluation.bounds = bounds;
  EXPECT_EQ(judge(evaluation).accuracy, Accuracy::kVacuous);
}

TEST(ErrorBounds, NeedNoRmsAndNoFirstSample) {
  // log of a bool: 0 and -inf. The rms of what is finite is zero, and the first sample has none.
  const BoundSamples references = {{doubles({-kInf, -kInf})}, {doubles({0, -kInf})}};
  const BoundSamples bounds = {{doubles({0, 0})}, {doubles({1e-6, 0})}};
  const auto table = judge(
      {.against = "float64", .results = references, .references = references, .bounds = bounds});
  EXPECT_EQ(table.accuracy, Accuracy::kPass) << table.reason;
  EXPECT_THAT(table.controls[3], StartsWith("one_element: rejected, as it must be"));
}

TEST(ErrorBounds, OfSpecialValuesAloneHaveNoElementToBeOff) {
  const BoundSamples references = {{doubles({-kInf, kInf})}, {doubles({kNan, -kInf})}};
  const BoundSamples bounds = {{doubles({0, 0})}, {doubles({0, 0})}};
  const auto table = judge(
      {.against = "float64", .results = references, .references = references, .bounds = bounds});
  EXPECT_EQ(table.accuracy, Accuracy::kPass) << table.reason;
  EXPECT_THAT(table.controls[3], HasSubstr("no finite element"));
}

TEST(ErrorBounds, ThatDoNotFitCheckNothing) {
  auto one = OneOutput();
  one.bounds[1][0] = doubles({0, 0});
  EXPECT_EQ(one.of(one.references).accuracy, Accuracy::kNotChecked);
  one = OneOutput();
  one.bounds[2][0] = doubles({1, 1, -1, 1, 0, 0});
  const auto table = one.of(one.references);
  EXPECT_EQ(table.accuracy, Accuracy::kNotChecked);
  EXPECT_THAT(table.reason, HasSubstr("negative or NaN"));
}

TEST(ErrorBounds, AnOutputWithoutElementsIsItsShape) {
  const BoundSamples empty = {{bound_floats({}, {0, 3})}, {bound_floats({}, {0, 3})}};
  Evaluation evaluation{.against = "float64", .results = empty, .references = empty};
  EXPECT_EQ(judge(evaluation).accuracy, Accuracy::kPass);
  const BoundSamples other = {{bound_floats({}, {3, 0})}, {bound_floats({}, {3, 0})}};
  evaluation.results = other;
  EXPECT_EQ(judge(evaluation).accuracy, Accuracy::kFailNumeric);
}

// ---- parts of a joint program ------------------------------------------------------------------

/// Two parts: outputs 0 and 1 belong to the first, output 2 to the second.
struct TwoParts {
  BoundSamples references = {{doubles({1, 2}), doubles({3, 4}), doubles({5, 6})},
                             {doubles({7, 8}), doubles({9, 1}), doubles({2, 3})}};
  BoundSamples bounds = {{doubles({0.1, 0.1}), doubles({0.1, 0.1}), doubles({0.1, 0.1})},
                         {doubles({0.1, 0.1}), doubles({0.1, 0.1}), doubles({0.1, 0.1})}};

  [[nodiscard]] AccuracyTable of(const BoundSamples& results, OutputRange range) const {
    return judge({.against = "float64",
                  .results = results,
                  .references = references,
                  .bounds = bounds,
                  .range = range});
  }
};

TEST(PartOfAProgram, HasAVerdictReasonAndControlsOfItsOwn) {
  const TwoParts two;
  auto results = two.references;
  results[1][2] = doubles({2, 3.5});
  const auto first = two.of(results, {0, 2});
  EXPECT_EQ(first.accuracy, Accuracy::kPass) << first.reason;
  EXPECT_EQ(first.outputs.size(), 2U);
  const auto second = two.of(results, {2, 3});
  EXPECT_EQ(second.accuracy, Accuracy::kFailNumeric);
  ASSERT_EQ(second.outputs.size(), 1U);
  EXPECT_EQ(second.outputs[0].output, "0");  // As the same model alone would name it.
  EXPECT_THAT(second.reason, HasSubstr("sample 1, element [1]: 3.5"));
  EXPECT_EQ(second.controls.size(), 4U);
}

TEST(PartOfAProgram, IsNotJudgedByTheShapeOfAnother) {
  const TwoParts two;
  auto results = two.references;
  results[0][2] = doubles({5, 6, 7});
  EXPECT_EQ(two.of(results, {0, 2}).accuracy, Accuracy::kPass);
  const auto second = two.of(results, {2, 3});
  EXPECT_EQ(second.accuracy, Accuracy::kFailNumeric);
  EXPECT_THAT(second.reason, StartsWith("sample 0, output 0: the shape is 3"));
}

TEST(PartOfAProgram, FailsWhenAnOutputOfTheWholeIsMissing) {
  const TwoParts two;
  auto results = two.references;
  for (auto& sample : results) {
    sample.pop_back();
  }
  EXPECT_EQ(two.of(results, {0, 2}).accuracy, Accuracy::kFailNumeric);
}

TEST(PartOfAProgram, OutsideOfItChecksNothing) {
  const TwoParts two;
  EXPECT_EQ(two.of(two.references, {3, 4}).accuracy, Accuracy::kNotChecked);
}

TEST(Unchanged, AnInputThatPassesMakesTheCheckVacuous) {
  const BoundSamples inputs = {{doubles({1, 2})}, {doubles({3, 5})}};
  const BoundSamples wide = {{doubles({0.5, 0.5})}, {doubles({0.5, 0.5})}};
  const BoundSamples near = {{doubles({1.25, 2.25})}, {doubles({3.25, 5.25})}};
  Evaluation evaluation{
      .against = "float64", .results = near, .references = near, .bounds = wide, .inputs = inputs};
  const auto table = evaluate_outputs(evaluation, {});
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->accuracy, Accuracy::kVacuous);
  EXPECT_THAT(table->reason, HasSubstr("unchanged: accepted"));
  evaluation.copied_outputs = {0};
  EXPECT_EQ(evaluate_outputs(evaluation, {}).value().accuracy, Accuracy::kPass);
  evaluation.copied_outputs = {};
  evaluation.input_range = OutputRange{.begin = 0, .end = 0};
  EXPECT_EQ(evaluate_outputs(evaluation, {}).value().accuracy, Accuracy::kPass)
      << "inputs of other parts are not looked at";
}

TEST(Unchanged, AnInputThatIsOutOfBoundsProvesTheCheck) {
  const BoundSamples inputs = {{doubles({1, 2}), doubles({9, 9, 9})}, {doubles({3, 5})}};
  const BoundSamples narrow = {{doubles({0.1, 0.1})}, {doubles({0.1, 0.1})}};
  const BoundSamples near = {{doubles({1.25, 2.25})}, {doubles({3.25, 5.25})}};
  const auto table = evaluate_outputs({.against = "float64",
                                       .results = near,
                                       .references = near,
                                       .bounds = narrow,
                                       .inputs = inputs},
                                      {});
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->accuracy, Accuracy::kPass) << table->reason;
  EXPECT_EQ(table->controls.size(), 5U);
}

}  // namespace
}  // namespace assay
