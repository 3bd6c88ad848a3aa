#include "assay/evaluate/evaluate.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/evaluate/output_types.h"
#include "assay/evaluate/tolerance.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/metric.h"
#include "assay/record/summary.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using Samples = std::vector<std::vector<Tensor>>;

Tensor floats(const std::vector<float>& values, Shape shape = {}) {
  if (shape.empty()) {
    shape = {1, static_cast<std::int64_t>(values.size())};
  }
  auto tensor = Tensor::zeros(Dtype::kFloat32, std::move(shape));
  std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
  return tensor;
}

Tensor integers(const std::vector<std::int64_t>& values) {
  auto tensor = Tensor::zeros(Dtype::kInt64, {static_cast<std::int64_t>(values.size())});
  std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
  return tensor;
}

Samples samples_of(const std::vector<std::vector<float>>& values) {
  Samples samples;
  for (const auto& sample : values) {
    samples.push_back({floats(sample)});
  }
  return samples;
}

ToleranceSet tolerances(const Json& document) {
  const auto set = tolerances_for(Recipe{}, document, "float32");
  EXPECT_TRUE(set) << set.error().message;
  return *set;
}

ToleranceSet quantized_defaults() {
  return *tolerances_for(Recipe{.quantization = "xnnpack-int8"}, Json::object(), "float32");
}

AccuracyTable evaluate(const Samples& results, const Samples& references,
                       const ToleranceSet& set = tolerances(Json::object()),
                       std::int64_t differing = 0) {
  const auto table = evaluate_outputs({.against = "float32",
                                       .results = results,
                                       .references = references,
                                       .outputs = {},
                                       .differing_elements = differing},
                                      set);
  EXPECT_TRUE(table) << table.error().message;
  return table ? *table : AccuracyTable{};
}

double metric_of(const AccuracyTable& table, const std::string& name, std::size_t output = 0) {
  return double_from_metric(table.outputs.at(output).metrics.at(name));
}

const Samples kReference = samples_of({{1, -2, 3, 0.5F}, {-1, 2, 0.25F, 4}});

TEST(Evaluate, PassesWhatIsRightAndNamesTheBounds) {
  const auto table = evaluate(kReference, kReference);
  EXPECT_EQ(table.accuracy, Accuracy::kPass);
  EXPECT_EQ(table.against, "float32");
  EXPECT_THAT(table.reason, HasSubstr("relative_l2_error 0 (<= 0.0001)"));
  EXPECT_THAT(table.controls,
              ElementsAre(StartsWith("all_zeros: rejected, as it must be"),
                          StartsWith("other_sample: rejected, as it must be"),
                          StartsWith("rolled: rejected"), StartsWith("one_element: rejected")));
  EXPECT_EQ(metric_of(table, "sqnr_db"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(metric_of(table, "top1_agreement"), 1);
  EXPECT_EQ(table.outputs.front().metrics.at("sqnr_db").scope, "output:0");
}

TEST(Evaluate, PoolsAllSamplesAsOneTensor) {
  const auto results = samples_of({{1, -2, 3, 0.5F}, {-1, 2, 0.25F, 4.5F}});
  const auto table = evaluate(results, kReference);
  EXPECT_EQ(table.accuracy, Accuracy::kFailNumeric);
  const double signal = 1 + 4 + 9 + 0.25 + 1 + 4 + 0.0625 + 16;
  EXPECT_NEAR(metric_of(table, "sqnr_db"), 10 * std::log10(signal / 0.25), 1e-12);
  EXPECT_EQ(metric_of(table, "max_abs_error"), 0.5);
  EXPECT_EQ(metric_of(table, "mean_abs_error"), 0.5 / 8);
  EXPECT_THAT(table.reason, HasSubstr("output 0: relative_l2_error"));
}

TEST(Evaluate, FailsOnAnyDifferenceInNumberOrShape) {
  const auto fewer = samples_of({{1, -2, 3, 0.5F}});
  EXPECT_EQ(evaluate(fewer, kReference).accuracy, Accuracy::kFailNumeric);
  EXPECT_THAT(evaluate(fewer, kReference).reason, HasSubstr("1 samples"));
  Samples flat = {{floats({1, -2, 3, 0.5F}, {4})}, {floats({-1, 2, 0.25F, 4}, {4})}};
  const auto table = evaluate(flat, kReference);
  EXPECT_EQ(table.accuracy, Accuracy::kFailNumeric);
  EXPECT_EQ(table.reason, "sample 0, output 0: the shape is 4, the reference has 1x4");
  flat[0].clear();
  EXPECT_THAT(evaluate(flat, kReference).reason, HasSubstr("0 outputs"));
}

TEST(Evaluate, WithoutSamplesOrOutputsChecksNothing) {
  EXPECT_EQ(evaluate({}, {}).accuracy, Accuracy::kNotChecked);
  EXPECT_EQ(evaluate({{}}, {{}}).accuracy, Accuracy::kNotChecked);
}

TEST(Evaluate, AStrayNanFailsWhateverTheBound) {
  auto results = samples_of({{1, -2, 3, 0.5F}, {-1, 2, 0.25F, NAN}});
  const auto set = tolerances({{"max_abs_error", 1e30}, {"why", "anything goes"}});
  const auto table = evaluate(results, kReference, set);
  EXPECT_EQ(table.accuracy, Accuracy::kFailNumeric);
  EXPECT_EQ(metric_of(table, "nan_count"), 1);
  EXPECT_EQ(table.outputs.front().metrics.at("max_abs_error").special, "nan");
}

TEST(Evaluate, NanWhereTheReferenceHasItIsCountedAndPasses) {
  const auto both = samples_of({{1, NAN, 3, 0.5F}, {-1, 2, 0.25F, 4}});
  const auto table = evaluate(both, both);
  EXPECT_EQ(table.accuracy, Accuracy::kPass);
  EXPECT_EQ(metric_of(table, "nan_count"), 1);
}

// Random weights: the outputs are tiny, and a fixed absolute tolerance lets anything pass.
TEST(Evaluate, ATinyOutputUnderAnAbsoluteToleranceIsVacuous) {
  const auto tiny = samples_of({{1e-9F, -2e-9F, 3e-9F}, {2e-9F, 1e-9F, -1e-9F}});
  const auto set = tolerances({{"max_abs_error", 1e-3}, {"why", "copied from somewhere"}});
  const auto table = evaluate(tiny, tiny, set);
  EXPECT_EQ(table.accuracy, Accuracy::kVacuous);
  EXPECT_THAT(table.reason,
              HasSubstr("all_zeros: accepted for output 0, though it must be rejected"));
  // The default, relative to the output's scale, does tell.
  EXPECT_EQ(evaluate(tiny, tiny).accuracy, Accuracy::kPass);
}

TEST(Evaluate, AnAllZeroReferenceIsVacuous) {
  const auto zeros = samples_of({{0, 0, 0}, {0, 0, 0}});
  const auto table = evaluate(zeros, zeros);
  EXPECT_EQ(table.accuracy, Accuracy::kVacuous);
  EXPECT_THAT(table.reason, HasSubstr("the reference is all zeros"));
}

TEST(Evaluate, AnAnswerThatIgnoresItsInputIsVacuous) {
  const auto constant = samples_of({{1, 2, 3}, {1, 2, 3}});
  const auto table = evaluate(constant, constant);
  EXPECT_EQ(table.accuracy, Accuracy::kVacuous);
  EXPECT_THAT(table.reason, HasSubstr("no two samples of one shape have different references"));
}

TEST(Evaluate, AToleranceThatAnotherSamplesOutputMeetsIsVacuous) {
  const auto near = samples_of({{10, 20, 30}, {10.5F, 20, 29.5F}});
  const auto set = tolerances({{"sqnr_db", 8}, {"why", "int8"}});
  const auto table = evaluate(near, near, set);
  EXPECT_EQ(table.accuracy, Accuracy::kVacuous);
  EXPECT_THAT(table.reason, HasSubstr("other_sample: accepted for output 0"));
}

TEST(Evaluate, SeparationTellsARightAnswerFromAnotherSamplesUnderALowBound) {
  const auto reference = samples_of({{10, 20, 30}, {13, 20, 26}});
  const auto right = samples_of({{10.5F, 20, 30}, {13, 20.5F, 26}});
  const auto table = evaluate(right, reference, quantized_defaults());
  EXPECT_EQ(table.accuracy, Accuracy::kPass) << table.reason;
  EXPECT_THAT(table.controls.at(1), HasSubstr("separation"));
  // Half way to the other sample: above 8 dB, yet not 3 dB better than a wrong input's output.
  const auto mixed = samples_of({{12.5F, 20, 26.5F}, {10.5F, 20, 29.5F}});
  const auto doubtful = evaluate(mixed, reference, quantized_defaults());
  EXPECT_EQ(doubtful.accuracy, Accuracy::kVacuous);
  EXPECT_THAT(doubtful.reason,
              HasSubstr("is not distinguishable from the output for another input"));
}

TEST(Evaluate, OneSampleHasNoOtherAndSaysSo) {
  const auto one = samples_of({{1, 2, 3}});
  const auto table = evaluate(one, one);
  EXPECT_EQ(table.accuracy, Accuracy::kPass);
  EXPECT_THAT(table.controls.at(1), HasSubstr("not applicable, there is one sample"));
}

TEST(Evaluate, EveryOutputMustBeCheckableByItself) {
  // Output 1 is tiny: zeros would pass there, whatever output 0 does.
  Samples both = {{floats({100, 200}), floats({1e-6F, 2e-6F})},
                  {floats({-50, 70}), floats({3e-6F, -1e-6F})}};
  const auto set = tolerances({{"max_abs_error", 1e-3}, {"why", "x"}});
  const auto table = evaluate(both, both, set);
  EXPECT_EQ(table.accuracy, Accuracy::kVacuous);
  EXPECT_THAT(table.controls.at(0), HasSubstr("output 1"));
}

// Zeros would be the right answer of an engine that never writes it.
TEST(Evaluate, ADeadOutputProvesNothingBesideALivingOne) {
  Samples both = {{floats({1, 2}), floats({0, 0})}, {floats({-1, 3}), floats({0, 0})}};
  const auto table = evaluate(both, both);
  EXPECT_EQ(table.accuracy, Accuracy::kVacuous);
  EXPECT_THAT(table.reason,
              StartsWith("the check proves nothing about output 1: all_zeros: rejected"));
  EXPECT_THAT(table.controls.at(0),
              HasSubstr("not applicable, output 1: the reference is all zeros"));
}

TEST(Evaluate, AnOutputThatIgnoresItsInputProvesNothingUnlessItIsSaidToBeConstant) {
  Samples both = {{floats({1, 2}), floats({5, 6})}, {floats({-1, 3}), floats({5, 6})}};
  const auto table = evaluate(both, both);
  EXPECT_EQ(table.accuracy, Accuracy::kVacuous);
  EXPECT_THAT(table.reason, StartsWith("the check proves nothing about output 1: other_sample"));
  const Json said = {{"constant_outputs", {1}}, {"why", "anchors"}};
  EXPECT_EQ(evaluate(both, both, tolerances(said)).accuracy, Accuracy::kPass);
  const Json other = {{"constant_outputs", {0}}, {"why", "x"}};
  EXPECT_EQ(evaluate(both, both, tolerances(other)).accuracy, Accuracy::kVacuous);
}

TEST(Evaluate, AnOutputWithoutElementsBesideOthersIsItsShape) {
  Samples both = {{floats({1, 2}), Tensor::zeros(Dtype::kFloat32, {0, 4})},
                  {floats({-1, 3}), Tensor::zeros(Dtype::kFloat32, {0, 4})}};
  EXPECT_EQ(evaluate(both, both).accuracy, Accuracy::kPass);
}

TEST(Evaluate, RepeatsThatDifferFailUnlessAllowed) {
  const auto table = evaluate(kReference, kReference, tolerances(Json::object()), 3);
  EXPECT_EQ(table.accuracy, Accuracy::kFailNondeterministic);
  EXPECT_THAT(table.reason, HasSubstr("3 elements differ"));
  const auto set =
      tolerances({{"sqnr_db", 60}, {"allow_nondeterminism", true}, {"why", "atomic sums"}});
  const auto allowed = evaluate(kReference, kReference, set, 3);
  EXPECT_EQ(allowed.accuracy, Accuracy::kPass);
  EXPECT_THAT(allowed.reason, HasSubstr("which the tolerance allows"));
}

TEST(Evaluate, ADrawnNumberIsNamedAsTheReasonOfADifference) {
  Evaluation evaluation{.against = "float32",
                        .results = kReference,
                        .references = kReference,
                        .differing_elements = 3,
                        .random_operators = {"aten.rand_like.default"}};
  const auto differing = evaluate_outputs(evaluation, tolerances(Json::object()));
  EXPECT_EQ(differing->accuracy, Accuracy::kFailNondeterministic);
  EXPECT_EQ(differing->differing_elements, 3);
  EXPECT_THAT(differing->reason, HasSubstr("random by design: aten.rand_like.default"));
  const auto allowed = evaluate_outputs(evaluation, tolerances({{"allow_nondeterminism", true}}));
  EXPECT_EQ(allowed->accuracy, Accuracy::kPass);
  auto read = Json(*allowed).get<AccuracyTable>();
  read.reason = "in other words";
  EXPECT_TRUE(differs_between_executions(read)) << "the field says so, not the sentence";
  evaluation.differing_elements = 0;
  EXPECT_EQ(evaluate_outputs(evaluation, tolerances(Json::object()))->accuracy, Accuracy::kPass);
  const auto other = samples_of({{1, 2, 3, 0.5F}, {-1, 2, 0.25F, 4}});
  evaluation.results = other;
  EXPECT_THAT(evaluate_outputs(evaluation, tolerances(Json::object()))->reason,
              HasSubstr("random by design: aten.rand_like.default"));
}

TEST(Evaluate, ABoundThatNoOutputMeasuresFails) {
  Samples images = {{floats({1, 2, 3, 4}, {1, 1, 2, 2})}, {floats({4, 1, 0, 2}, {1, 1, 2, 2})}};
  const auto set = tolerances({{"top1_agreement", 0.9}, {"why", "x"}});
  const auto table = evaluate(images, images, set);
  EXPECT_EQ(table.accuracy, Accuracy::kFailNumeric);
  EXPECT_EQ(table.reason, "top1_agreement not measured (>= 0.9)");
}

TEST(Evaluate, IntegerOutputsAreExact) {
  const Samples reference = {{integers({3, 7})}, {integers({4, 1})}};
  EXPECT_EQ(evaluate(reference, reference).accuracy, Accuracy::kPass);
  const Samples off = {{integers({3, 7})}, {integers({4, 2})}};
  EXPECT_EQ(evaluate(off, reference).accuracy, Accuracy::kFailNumeric);
  EXPECT_EQ(evaluate(off, reference, quantized_defaults()).accuracy, Accuracy::kFailNumeric);
}

TEST(Evaluate, IntegersBeyondDoublesAreExact) {
  const std::int64_t large = 9007199254740992;  // 2^53
  const Samples reference = {{integers({large, -large})}, {integers({4, 1})}};
  EXPECT_EQ(evaluate(reference, reference).accuracy, Accuracy::kPass);
  const Samples off = {{integers({large + 1, -large})}, {integers({4, 1})}};
  const auto table = evaluate(off, reference);
  EXPECT_EQ(table.accuracy, Accuracy::kFailNumeric);
  EXPECT_EQ(metric_of(table, "max_abs_error"), 1);
  EXPECT_EQ(metric_of(table, "l2_error"), 1);
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  const Samples ends = {{integers({least, 0})}, {integers({4, 1})}};
  const Samples other = {{integers({-(least + 1), 0})}, {integers({4, 1})}};
  EXPECT_EQ(metric_of(evaluate(other, ends), "max_abs_error"), 0x1p64);
}

AccuracyTable judge_types(const Samples& results, const Samples& references, TypeRules types) {
  const auto table = evaluate_outputs({.against = "float32",
                                       .results = results,
                                       .references = references,
                                       .types = std::move(types)},
                                      tolerances(Json::object()));
  EXPECT_TRUE(table) << table.error().message;
  return table ? *table : AccuracyTable{};
}

Samples cast_to(Dtype dtype, const Samples& samples) {
  Samples cast = samples;
  for (auto& sample : cast) {
    sample[0] = tensor_from_doubles(doubles_from_tensor(sample[0].view()), sample[0].shape, dtype);
  }
  return cast;
}

// Token ids as float32 would be compared with a relative bound, which an id that is off by one
// meets.
TEST(Evaluate, AnOutputOfAnotherTypeFails) {
  const Samples ids = {{integers({128000, 7})}, {integers({4, 127999})}};
  const Samples floating = {{floats({128001, 7}, {2})}, {floats({4, 127999}, {2})}};
  const auto table = evaluate(floating, ids);
  EXPECT_EQ(table.accuracy, Accuracy::kFailNumeric);
  EXPECT_EQ(table.reason, "sample 0, output 0: the type is float32, the reference has int64");
  EXPECT_EQ(evaluate(cast_to(Dtype::kFloat16, kReference), kReference).accuracy,
            Accuracy::kFailNumeric);
  const Samples flags = {{Tensor::zeros(Dtype::kBool, {2})}, {Tensor::zeros(Dtype::kBool, {2})}};
  const Samples bytes = {{Tensor::zeros(Dtype::kUInt8, {2})}, {Tensor::zeros(Dtype::kUInt8, {2})}};
  EXPECT_THAT(evaluate(bytes, flags).reason,
              HasSubstr("the type is uint8, the reference has bool"));
}

TEST(Evaluate, AReferenceMayBeWiderThanItsModel) {
  const auto wide = cast_to(Dtype::kFloat64, kReference);
  EXPECT_EQ(judge_types(kReference, wide, {.own = {Dtype::kFloat32}}).accuracy, Accuracy::kPass);
  EXPECT_THAT(
      judge_types(cast_to(Dtype::kFloat16, kReference), wide, {.own = {Dtype::kFloat32}}).reason,
      HasSubstr("the type is float16, the reference has float32"));
}

TEST(Evaluate, ARecipeThatCastsGivesItsType) {
  const auto half = cast_to(Dtype::kFloat16, kReference);
  EXPECT_EQ(judge_types(half, kReference, {.cast = Dtype::kFloat16}).accuracy, Accuracy::kPass);
  EXPECT_EQ(judge_types(half, kReference, {.cast = Dtype::kBFloat16}).accuracy,
            Accuracy::kFailNumeric);
}

TEST(Evaluate, AFileOfAnotherWidthIsHeldAgainstTheMorePreciseTolerance) {
  const auto wide = cast_to(Dtype::kFloat64, kReference);
  EXPECT_EQ(judge_types(kReference, wide, {.is_any_width = true}).accuracy, Accuracy::kPass);
  auto rough = cast_to(Dtype::kFloat16, samples_of({{1.001F, -2, 3, 0.5F}, {-1, 2, 0.25F, 4}}));
  const auto table = judge_types(rough, wide, {.is_any_width = true});
  EXPECT_EQ(table.accuracy, Accuracy::kFailNumeric);
  EXPECT_THAT(table.reason, HasSubstr("(<= 0.0001)")) << "float16's bound would take it";
  const Samples ids = {{integers({3, 7})}, {integers({4, 1})}};
  const auto as_floats = cast_to(Dtype::kFloat64, ids);
  EXPECT_EQ(judge_types(as_floats, ids, {.is_any_width = true}).accuracy, Accuracy::kFailNumeric);
}

TEST(Evaluate, QuantizedOutputsAreComparedByValueAndInSteps) {
  auto stored = Tensor::zeros(Dtype::kInt8, {1, 3});
  stored.data = {std::byte{12}, std::byte{2}, std::byte{22}};  // (q - 2) * 0.1 = 1, 0, 2
  const Samples results = {{stored}};
  const Samples references = {{floats({1, 0.1F, 2})}};
  const std::vector<TensorSpec> outputs = {{.name = "scores",
                                            .dtype = Dtype::kInt8,
                                            .shape = {1, 3},
                                            .quantization = Quantization{{0.1}, {2}, -1}}};
  const auto table = evaluate_outputs(
      {.against = "qdq", .results = results, .references = references, .outputs = outputs},
      quantized_defaults());
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->accuracy, Accuracy::kPass) << table->reason;
  EXPECT_EQ(table->outputs.front().output, "scores");
  EXPECT_NEAR(metric_of(*table, "max_step_error"), 1, 1e-6);
  EXPECT_NEAR(metric_of(*table, "mean_step_error"), 1.0 / 3, 1e-6);
}

TEST(Evaluate, AQuantizationThatDoesNotFitIsNotChecked) {
  auto stored = Tensor::zeros(Dtype::kInt8, {1, 3});
  const Samples both = {{stored}};
  const std::vector<TensorSpec> outputs = {
      {.name = "y", .shape = {1, 3}, .quantization = Quantization{{1, 2}, {0, 0}, -1}}};
  const auto table =
      evaluate_outputs({.against = "qdq", .results = both, .references = both, .outputs = outputs},
                       quantized_defaults());
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->accuracy, Accuracy::kNotChecked);
  EXPECT_THAT(table->reason, StartsWith("output 0: "));
}

/// Two samples of a row each; the output of scores is as wide as asked, that of features is 2 wide.
AccuracyTable judge_labels(const Samples& both, std::vector<std::int64_t> labels) {
  const auto table = evaluate_outputs({.against = "float32",
                                       .results = both,
                                       .references = both,
                                       .outputs = {},
                                       .labels = std::move(labels)},
                                      tolerances(Json::object()));
  EXPECT_TRUE(table) << table.error().message;
  return table ? *table : AccuracyTable{};
}

TEST(Evaluate, LabelsBelongToTheFirstOutputThatHasAClassForEach) {
  const Samples both = {{floats({5, 6}), floats({1, 2, 9}), floats({7, 1, 2})},
                        {floats({6, 4}), floats({8, 2, 1}), floats({1, 7, 3})}};
  const auto table = judge_labels(both, {2, 0});
  EXPECT_EQ(table.accuracy, Accuracy::kPass) << table.reason;
  EXPECT_FALSE(table.outputs[0].metrics.contains("top1_accuracy")) << "it has no class 2";
  EXPECT_EQ(metric_of(table, "top1_accuracy", 1), 1);
  EXPECT_FALSE(table.outputs[2].metrics.contains("top1_accuracy")) << "they are another's";
}

TEST(Evaluate, LabelsThatFitNoOutputAreTold) {
  const auto both = samples_of({{1, 2, 9}, {8, 2, 1}});
  for (const std::int64_t label : {-1, 3, 255}) {
    const auto table = judge_labels(both, {0, label});
    EXPECT_EQ(table.accuracy, Accuracy::kPass);
    EXPECT_FALSE(table.outputs[0].metrics.contains("top1_accuracy"));
    EXPECT_THAT(table.reason, HasSubstr("no accuracy: no output has a row of class scores for"));
  }
  EXPECT_THAT(judge_labels(both, {0}).reason, HasSubstr("each of the 1 labels (0 to 0)"));
}

TEST(Evaluate, SamplesOfDifferentShapesAreToldApartByThese) {
  const auto both = samples_of({{1, -2, 3}, {-1, 2, 0.25F, 4}});
  const auto table = evaluate(both, both);
  EXPECT_EQ(table.accuracy, Accuracy::kPass) << table.reason;
  EXPECT_THAT(table.controls[1], HasSubstr("no two samples have one shape"));
  const auto alike = samples_of({{1, -2, 3}, {-1, 2, 0.25F, 4}, {1, -2, 3}});
  EXPECT_EQ(evaluate(alike, alike).accuracy, Accuracy::kVacuous) << "two of one shape are alike";
}

TEST(Evaluate, NanAtOtherPlacesTellSamplesApart) {
  const auto both = samples_of({{1, NAN, 3, 0.5F}, {NAN, 2, 0.25F, 4}});
  const auto table = evaluate(both, both, quantized_defaults());
  EXPECT_EQ(table.accuracy, Accuracy::kPass) << table.reason;
}

}  // namespace
}  // namespace assay
