#include "assay/spec/spec.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>

#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/spec/testing/sample_spec.h"
#include "assay/tensor/dtype.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

TEST(Spec, ReadsModelsWithTheirBindings) {
  const auto spec = whole_spec();
  ASSERT_THAT(spec.models, SizeIs(4));
  const auto& mobilenet = spec.models[0];
  EXPECT_EQ(mobilenet.model.ref, "torchvision:mobilenet_v2");
  EXPECT_EQ(mobilenet.model.seed, 3U);
  EXPECT_EQ(mobilenet.model.args, (Json{{"width_mult", 0.5}}));
  EXPECT_EQ(mobilenet.model.weight_init, false);
  ASSERT_THAT(mobilenet.bindings, SizeIs(2));
  ASSERT_THAT(mobilenet.bindings[1], SizeIs(1));
  EXPECT_THAT(mobilenet.bindings[1][0].shape, ElementsAre(1, 3, 192, 192));
  EXPECT_EQ(mobilenet.bindings[1][0].dtype, Dtype::kFloat16);
  const auto& factory = spec.models[2];
  ASSERT_THAT(factory.bindings, SizeIs(2));
  ASSERT_THAT(factory.bindings[0], SizeIs(2));
  EXPECT_THAT(factory.bindings[0][1].shape, SizeIs(0)) << "a scalar";
  EXPECT_EQ(factory.bindings[0][1].dtype, Dtype::kInt64);
  EXPECT_THAT(factory.bindings[1][0].shape, ElementsAre(2, 3));
  EXPECT_THAT(spec.models[3].bindings, SizeIs(0));
}

TEST(Spec, LooksForFilesBesideItself) {
  const auto spec = whole_spec();
  EXPECT_EQ(spec.models[1].model.ref, "/specs/kws.onnx");
  EXPECT_EQ(spec.models[1].input_file, "/specs/kws_inputs.npz");
  EXPECT_EQ(spec.models[2].model.ref, "/specs/zoo/net.py:make");
  auto document = minimal_spec();
  document["models"] = {"/elsewhere/net.pte", "../net.pt2"};
  const auto other = spec_from_json(document, context_in_folder()).value();
  EXPECT_EQ(other.models[0].model.ref, "/elsewhere/net.pte");
  EXPECT_EQ(other.models[1].model.ref, "/net.pt2");
}

TEST(Spec, TakesTheKeyByWhichEditorsFindItsSchema) {
  auto document = minimal_spec();
  document["$schema"] = "spec.schema.json";
  EXPECT_TRUE(spec_from_json(document, context_in_folder()));
  EXPECT_TRUE(parse_json(spec_schema(), "schema")->at("properties").contains("$schema"));
}

TEST(Spec, KnowsTheModelsOfPlugins) {
  auto document = minimal_spec();
  document["models"] = {"my:net", "net"};
  auto context = context_in_folder();
  context.plugin_models = {"net"};
  EXPECT_TRUE(spec_from_json(document, context));
  context.plugin_models.clear();
  EXPECT_FALSE(spec_from_json(document, context));
}

TEST(Spec, LeavesInputsToAModelThatBringsThem) {
  auto document = minimal_spec();
  document["models"] = {{{"ref", "aten:add.Tensor"}, {"inputs", "model"}},
                        {{"ref", "aten:mul.Tensor"}}};
  const auto spec = spec_from_json(document, context_in_folder()).value();
  EXPECT_TRUE(spec.models[0].brings_inputs);
  EXPECT_EQ(spec.models[0].input_file, "");
  EXPECT_FALSE(spec.models[1].brings_inputs);
}

TEST(Spec, ResolvesRecipesByNameAndInline) {
  const auto spec = whole_spec();
  ASSERT_THAT(spec.recipes, SizeIs(3));
  EXPECT_TRUE(spec.recipes[1].is_preset);
  EXPECT_EQ(spec.recipes[1].engine, "executorch");
  EXPECT_EQ(spec.recipes[1].quantization.at("quantizer"), "xnnpack");
  const auto& mine = spec.recipes[2];
  EXPECT_FALSE(mine.is_preset);
  EXPECT_EQ(mine.quantization.at("is_dynamic"), true) << "the name is resolved";
  EXPECT_EQ(mine.lowering.at("options").at("per_op_mode"), true);
  EXPECT_EQ(mine.produces, "pte");
  EXPECT_EQ(mine.tolerance.at("sqnr_db"), 10);
}

TEST(Spec, ReadsPlansAndTheRest) {
  const auto spec = whole_spec();
  EXPECT_EQ(spec.measure.launches, 6);
  EXPECT_DOUBLE_EQ(spec.measure.interval_ratio, 0.015);
  EXPECT_EQ(spec.measure.most_launches, 30);
  EXPECT_EQ(spec.measure.case_budget_ns, 120'000'000'000);
  EXPECT_EQ(spec.measure.plan.warmup_iterations, 0);
  EXPECT_FALSE(spec.measure.plan.detects_warmup);
  EXPECT_EQ(spec.measure.plan.iterations, 20);
  EXPECT_EQ(spec.measure.plan.min_iterations, 2);
  EXPECT_EQ(spec.measure.plan.time_budget_ns, 20'000'000'000);
  EXPECT_EQ(spec.measure.sensors, "250ms");
  EXPECT_THAT(spec.measure.passes, ElementsAre(Pass::kTiming, Pass::kMemory));
  EXPECT_THAT(spec.evaluate.against, ElementsAre("float32", "qdq"));
  EXPECT_EQ(spec.evaluate.samples, 8);
  EXPECT_EQ(spec.evaluate.seed, 2U);
  EXPECT_EQ(spec.evaluate.tolerance.at("sqnr_db"), 20);
  EXPECT_EQ(spec.calibration.batches, 16);
  EXPECT_EQ(spec.calibration.seed, 99U);
  EXPECT_EQ(spec.require.at("steady_ns"), "<=12ms");
  EXPECT_EQ(spec.seed, 18446744073709551615U);
  EXPECT_EQ(spec.labels.at("branch"), "main");
  EXPECT_EQ(spec.baseline, "executorch/xnnpack-fp32");
  EXPECT_EQ(spec.expand, Expand::kPairwise);
  EXPECT_EQ(spec.max_cases, 9);
  EXPECT_EQ(spec.sandbox, SandboxMode::kRequired);
  EXPECT_EQ(spec.name, "whole");
  ASSERT_THAT(spec.engines, SizeIs(2));
  EXPECT_EQ(spec.engines[0].label, "1.5.1");
  EXPECT_EQ(spec.engines[1].label, "");
  EXPECT_THAT(spec.options.at("threads"), ElementsAre(1, 2));
  EXPECT_THAT(spec.options.at("fast_math"), ElementsAre(true));
  ASSERT_THAT(spec.exclude, SizeIs(1));
  EXPECT_EQ(spec.exclude[0].options, (Json{{"threads", 2}}));
  EXPECT_EQ(spec.digest, digest_of_json(spec.document));
}

TEST(Spec, HasDefaultsForAllThatIsAbsent) {
  const auto spec = spec_from_json(minimal_spec(), {}).value();
  EXPECT_EQ(spec.measure.launches, 3);
  EXPECT_TRUE(spec.measure.plan.detects_warmup);
  EXPECT_THAT(spec.measure.passes, ElementsAre(Pass::kTiming, Pass::kMemory));
  EXPECT_THAT(spec.devices, ElementsAre("local"));
  EXPECT_THAT(spec.evaluate.against, ElementsAre("float32", "file"));
  EXPECT_NE(spec.evaluate.seed, spec.calibration.seed);
  EXPECT_EQ(spec.max_cases, 500);
}

TEST(Spec, EvaluatesWhenAskedWithoutNamingThePass) {
  auto document = minimal_spec();
  document["evaluate"] = Json::object();
  EXPECT_THAT(spec_from_json(document, {}).value().measure.passes,
              ElementsAre(Pass::kTiming, Pass::kMemory, Pass::kEvaluate));
}

TEST(Spec, NeedsNoRecipeForFinishedPrograms) {
  const Json document = {{"schema", "assay/spec/1"}, {"models", {"net.pte"}}};
  EXPECT_TRUE(spec_from_json(document, {}).has_value());
}

TEST(Spec, TakesIterationsAsANumberOrAuto) {
  EXPECT_EQ(message_with("measure", R"({"iterations": "auto"})"), "");
  EXPECT_THAT(message_with("measure", R"({"iterations": "many"})"),
              HasSubstr("measure.iterations: must be \"auto\" or a whole number of at least 1"));
  EXPECT_THAT(message_with("measure", R"({"iterations": 0})"), HasSubstr("measure.iterations"));
}

TEST(Spec, ReadsTheConditionsOfTiming) {
  const auto axes = whole_spec().scenario;
  const auto values = [&axes](const char* name) { return Json(axes.at(name)); };
  EXPECT_EQ(values("gap_ns"), Json::parse("[null, 5000000]")) << "the default is no part of a case";
  EXPECT_EQ(values("duration_ns"), Json::parse("[null, 300000000000]"));
  EXPECT_EQ(values("streams"), Json::parse("[null, 2]"));
  EXPECT_EQ(values("page_cache"), Json::parse(R"(["cold"])"));
  EXPECT_EQ(values("cores"), Json::parse(R"(["own", "0-1"])"));
  EXPECT_EQ(values("background"), Json::parse(R"([null, "cpu:1"])"));
  EXPECT_EQ(values("cool_below_celsius"), Json::parse("[45]"));
  EXPECT_TRUE(axes.at("beside").at(0).get<std::string>().ends_with("/other.pte"));
}

TEST(SpecFile, IsReadWithCommentsAndNamedAfterItself) {
  const auto folder = TemporaryFolder::make("assay-spec").value();
  const auto path = folder.path() / "night.json";
  const auto text =
      "// comment\n{\"schema\": \"assay/spec/1\", /* here */ \"models\": [\"n.pte\"]}";
  ASSERT_TRUE(write_file_atomically(path, text).has_value());
  const auto spec = read_spec_file(path).value();
  EXPECT_EQ(spec.name, "night");
  EXPECT_EQ(spec.models[0].model.ref, (folder.path() / "n.pte").string());
  EXPECT_EQ(read_spec_file(folder.path() / "absent.json").error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(write_file_atomically(path, "{\"schema\": ").has_value());
  EXPECT_THAT(read_spec_file(path).error().message, HasSubstr("not valid JSON"));
}

TEST(SpecFiles, ThatAreShippedAreRight) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ASSAY_SPECS_FOLDER)) {
    if (entry.path().extension() != ".json") {
      continue;
    }
    const auto spec = read_spec_file(entry.path());
    EXPECT_TRUE(spec.has_value()) << spec.error().message;
    ++count;
  }
  EXPECT_GE(count, 2);
}

}  // namespace
}  // namespace assay
