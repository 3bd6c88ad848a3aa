#include "assay/spec/spec.h"

#include "spec_data.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/tensor/dtype.h"

namespace assay {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr std::string_view kWholeSpec = R"json({
  // The example of the design, with every key.
  "schema": "assay/spec/1",
  "name": "whole",
  "models": [{"ref": "torchvision:mobilenet_v2", "seed": 3, "args": {"width_mult": 0.5},
              "healthy": false, "inputs": [[1,3,224,224], {"shape": [1,3,192,192], "dtype": "float16"}]},
             {"ref": "file:kws.onnx", "url": "https://example.org/kws.onnx",
              "sha256": "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
              "inputs": "kws_inputs.npz"},
             {"ref": "zoo/net.py:make", "inputs": [[[1,3],{"shape": [], "dtype": "int64"}], [[2,3],[1,5]]]},
             "torchvision:resnet18"],
  "recipes": ["executorch/xnnpack-fp32", "executorch/xnnpack-int8",
              {"name": "mine", "quantization": "xnnpack-int8-dynamic", "lowering":
               {"flow": "to_edge_transform_and_lower", "partitioner": "xnnpack",
                "options": {"per_op_mode": true}}, "tolerance": {"sqnr_db": 10, "why": "dynamic"}}],
  "engines": ["executorch@1.5.1", "onnxruntime"],
  "options": {"threads": [1, 2], "fast_math": true},
  "scenario": {"gap": ["0ms", "5ms"], "streams": [1, 2], "page_cache": "cold", "cores": ["own", "0-1"],
               "background": ["none", "cpu:1"], "cool_below": 45, "beside": "other.pte"},
  "devices": ["local"],
  "measure": {"launches": 5, "interval": "1.5%", "most_launches": 30, "case_budget": "2min", "warmup": 0, "iterations": 20, "min_iterations": 2,
              "time_budget": "20s", "passes": ["timing", "memory", "timing"],
              "leak_check": {"loads": 20, "inferences": 200}},
  "evaluate": {"against": ["float32", "qdq"], "samples": 8, "seed": 2,
               "tolerance": {"sqnr_db": 20, "why": "int8 activations"}},
  "calibration": {"batches": 16, "seed": 99},
  "require": {"delegated_ratio": ">=0.99", "steady_ns": "<=12ms", "program_bytes": "<14MB"},
  "exclude": [{"recipe": "mine", "options": {"threads": 2}}],
  "seed": 18446744073709551615,
  "labels": {"branch": "main"},
  "baseline": "executorch/xnnpack-fp32",
  "expand": "pairwise",
  "max_cases": 9
})json";

SpecContext context_in_folder() { return {.origin = "x.json", .folder = "/specs"}; }

Json minimal() {
  return {{"schema", "assay/spec/1"},
          {"models", {"torchvision:mobilenet_v2"}},
          {"recipes", {"executorch/xnnpack-fp32"}}};
}

// The message that a change of the minimal spec earns; empty if it is fine.
template <class Change>
std::string message_of(Change change) {
  auto document = minimal();
  change(document);
  const auto spec = spec_from_json(document, context_in_folder());
  if (spec) {
    return {};
  }
  EXPECT_EQ(spec.error().code, ErrorCode::kInvalidArgument);
  return spec.error().message;
}

std::string message_with(std::string_view key, std::string_view value) {
  return message_of([&](Json& spec) { spec[std::string(key)] = Json::parse(value); });
}

Spec whole_spec() {
  const auto document = parse_json(kWholeSpec, "x.json");
  EXPECT_TRUE(document.has_value());
  auto spec = spec_from_json(document.value(), context_in_folder());
  EXPECT_TRUE(spec.has_value()) << spec.error().message;
  return *std::move(spec);
}

TEST(Spec, ReadsModelsWithTheirBindings) {
  const auto spec = whole_spec();
  ASSERT_THAT(spec.models, SizeIs(4));
  const auto& mobilenet = spec.models[0];
  EXPECT_EQ(mobilenet.model.ref, "torchvision:mobilenet_v2");
  EXPECT_EQ(mobilenet.model.seed, 3U);
  EXPECT_EQ(mobilenet.model.args, (Json{{"width_mult", 0.5}}));
  EXPECT_EQ(mobilenet.model.healthy, false);
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
  auto document = minimal();
  document["models"] = {"/elsewhere/net.pte", "../net.pt2"};
  const auto other = spec_from_json(document, context_in_folder()).value();
  EXPECT_EQ(other.models[0].model.ref, "/elsewhere/net.pte");
  EXPECT_EQ(other.models[1].model.ref, "/net.pt2");
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
  EXPECT_EQ(spec.measure.launches, 5);
  EXPECT_DOUBLE_EQ(spec.measure.interval_ratio, 0.015);
  EXPECT_EQ(spec.measure.most_launches, 30);
  EXPECT_EQ(spec.measure.case_budget_ns, 120'000'000'000);
  EXPECT_EQ(spec.measure.plan.warmup_iterations, 0);
  EXPECT_FALSE(spec.measure.plan.detects_warmup);
  EXPECT_EQ(spec.measure.plan.iterations, 20);
  EXPECT_EQ(spec.measure.plan.min_iterations, 2);
  EXPECT_EQ(spec.measure.plan.time_budget_ns, 20'000'000'000);
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
  const auto spec = spec_from_json(minimal(), {}).value();
  EXPECT_EQ(spec.measure.launches, 3);
  EXPECT_TRUE(spec.measure.plan.detects_warmup);
  EXPECT_THAT(spec.measure.passes, ElementsAre(Pass::kTiming, Pass::kMemory));
  EXPECT_THAT(spec.devices, ElementsAre("local"));
  EXPECT_THAT(spec.evaluate.against, ElementsAre("float32"));
  EXPECT_NE(spec.evaluate.seed, spec.calibration.seed);
  EXPECT_EQ(spec.max_cases, 500);
}

TEST(Spec, EvaluatesWhenAskedWithoutNamingThePass) {
  auto document = minimal();
  document["evaluate"] = Json::object();
  EXPECT_THAT(spec_from_json(document, {}).value().measure.passes,
              ElementsAre(Pass::kTiming, Pass::kMemory, Pass::kEvaluate));
}

TEST(Spec, NeedsNoRecipeForFinishedPrograms) {
  const Json document = {{"schema", "assay/spec/1"}, {"models", {"net.pte"}}};
  EXPECT_TRUE(spec_from_json(document, {}).has_value());
}

TEST(SpecErrors, NameFilePathAndFixOfATypo) {
  EXPECT_EQ(message_with("modles", "[]"), "x.json: unknown key 'modles'; did you mean 'models'?");
  EXPECT_EQ(message_with("measure", R"({"iteratons": 5})"),
            "x.json: measure: unknown key 'iteratons'; did you mean 'iterations'?");
  EXPECT_EQ(message_with("models", R"([{"ref": "torchvision:x", "sed": 1}])"),
            "x.json: models[0]: unknown key 'sed'; did you mean 'seed'?");
  EXPECT_THAT(message_with("exclude", R"([{"modell": "x"}])"),
              HasSubstr("exclude[0]: unknown key 'modell'; did you mean 'model'?"));
  EXPECT_THAT(message_with("evaluate", R"({"agianst": []})"), HasSubstr("did you mean 'against'?"));
  EXPECT_THAT(message_with("calibration", R"({"batchs": 1})"),
              HasSubstr("did you mean 'batches'?"));
}

TEST(SpecErrors, AskForTheSchema) {
  auto document = minimal();
  document.erase("schema");
  EXPECT_THAT(spec_from_json(document, context_in_folder()).error().message,
              AllOf(HasSubstr("x.json"), HasSubstr("\"schema\": \"assay/spec/1\"")));
  document["schema"] = "assay/spec/2";
  const auto newer = spec_from_json(document, context_in_folder());
  EXPECT_EQ(newer.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(newer.error().message, HasSubstr("update Assay"));
  document["schema"] = "assay/report/1";
  EXPECT_EQ(spec_from_json(document, {}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(spec_from_json(Json::array(), {}).error().code, ErrorCode::kInvalidArgument);
}

TEST(SpecErrors, SuggestNames) {
  EXPECT_EQ(message_with("models", R"(["mobilenet_v2"])"),
            "x.json: models[0]: unknown model 'mobilenet_v2'; did you mean "
            "'torchvision:mobilenet_v2'?");
  EXPECT_THAT(message_with("models", R"(["qqqq"])"), HasSubstr("library:name"));
  EXPECT_THAT(message_with("models", R"(["file:net.zip"])"), HasSubstr("no kind of file"));
  EXPECT_EQ(message_with("recipes", R"(["executorch/xnnpack-fp23"])"),
            "x.json: recipes[0]: unknown recipe 'executorch/xnnpack-fp23'; did you mean "
            "'executorch/xnnpack-fp32'?");
  EXPECT_THAT(
      message_with("recipes", R"([{"name": "m", "lowering": {}, "quantization": "xnnpack-int9"}])"),
      HasSubstr("recipes[0].quantization: unknown quantization 'xnnpack-int9'"));
  EXPECT_THAT(message_with("recipes", R"([{"name": "m", "lowering": {"flow": "to_edge"}}])"),
              HasSubstr("recipes[0].lowering.flow: unknown lowering flow 'to_edge'"));
  EXPECT_EQ(message_with("require", R"({"steady_nss": "<=1ms"})"),
            "x.json: require: unknown metric 'steady_nss'; did you mean 'steady_ns'?");
  EXPECT_THAT(message_with("evaluate", R"({"against": ["fp32"]})"),
              HasSubstr("evaluate.against[0]: unknown kind of reference 'fp32'"));
  EXPECT_EQ(message_with("baseline", R"("executorch/xnnpack-fp3")"),
            "x.json: baseline: unknown baseline 'executorch/xnnpack-fp3'; did you mean "
            "'executorch/xnnpack-fp32'?");
  EXPECT_THAT(message_with("expand", R"("pairs")"), HasSubstr("is not one of: full, pairwise"));
  EXPECT_THAT(message_with("measure", R"({"passes": ["time"]})"),
              HasSubstr("measure.passes[0]: 'time' is not one of: timing"));
}

TEST(SpecErrors, NameALeakCheckThatChecksNothing) {
  EXPECT_THAT(message_with("measure", R"({"leak_check": {}})"),
              HasSubstr("measure.leak_check: repeats nothing"));
  EXPECT_THAT(message_with("measure", R"({"passes": ["timing"], "leak_check": {"loads": 20}})"),
              HasSubstr("measure.leak_check: is made in the memory pass"));
  EXPECT_THAT(message_with("measure", R"({"leak_check": {"loads": -1, "inferences": 5}})"),
              HasSubstr("measure.leak_check.loads: must be from 0 to"));
}

TEST(SpecErrors, NameWrongTypes) {
  EXPECT_EQ(message_with("models", R"("torchvision:resnet18")"),
            "x.json: models: must be a list, not a string");
  EXPECT_THAT(message_with("models", "[3]"), HasSubstr("models[0]: must be an object"));
  EXPECT_THAT(message_with("measure", R"({"launches": "3"})"),
              HasSubstr("measure.launches: must be a whole number, not a string"));
  EXPECT_THAT(message_with("measure", R"({"launches": 2.5})"), HasSubstr("not a fraction"));
  EXPECT_THAT(message_with("measure", R"({"launches": 0})"), HasSubstr("must be from 1 to"));
  EXPECT_THAT(message_with("measure", R"({"launches": 99999999999999999999})"),
              HasSubstr("measure.launches: must be"));
  EXPECT_THAT(message_with("seed", "-1"), HasSubstr("seed: must be a whole number of at least 0"));
  EXPECT_THAT(message_with("labels", R"({"a": 1})"), HasSubstr("labels.a: must be a string"));
  EXPECT_THAT(message_with("options", R"({"threads": [[1]]})"), HasSubstr("options.threads[0]"));
  EXPECT_THAT(message_with("options", R"({"threads": []})"),
              HasSubstr("options.threads: is empty"));
  EXPECT_THAT(message_with("options", R"({"threads": [1, 1]})"), HasSubstr("twice"));
  EXPECT_THAT(message_with("devices", "[]"), HasSubstr("\"devices\" is empty"));
  EXPECT_THAT(message_with("engines", R"(["executorch@"])"), HasSubstr("engines[0]: must be"));
  EXPECT_THAT(message_with("engines", R"(["executorch", "executorch"])"), HasSubstr("twice"));
  EXPECT_THAT(message_with("recipes", R"(["executorch/portable", "executorch/portable"])"),
              HasSubstr("recipes[1]: recipe 'executorch/portable' stands here twice"));
  EXPECT_THAT(message_with("recipes", R"([{"lowering": {}}])"), HasSubstr("needs a \"name\""));
  EXPECT_THAT(message_with("recipes", R"([{"name": "m"}])"), HasSubstr("needs a \"lowering\""));
  EXPECT_THAT(message_with("exclude", "[{}]"), HasSubstr("would exclude every case"));
}

TEST(SpecErrors, NameWrongModels) {
  const auto with_model = [](std::string_view model) {
    return message_with("models", "[" + std::string(model) + "]");
  };
  EXPECT_THAT(with_model("{}"), HasSubstr("models[0]: needs a \"ref\""));
  const auto with_inputs = [&](std::string_view inputs) {
    return with_model(R"({"ref": "a:b", "inputs": )" + std::string(inputs) + "}");
  };
  EXPECT_EQ(with_inputs("[1,3,224,224]"),
            "x.json: models[0].inputs: is a list of alternatives; for one shape write "
            "[[1,3,224,224]]");
  EXPECT_THAT(with_inputs("[]"), HasSubstr("models[0].inputs: is empty"));
  EXPECT_THAT(with_inputs("[[]]"), HasSubstr("models[0].inputs[0]: is empty"));
  EXPECT_THAT(with_inputs("[[1, 0]]"), HasSubstr("models[0].inputs[0][1]: must be from 1"));
  EXPECT_THAT(with_inputs("[[1, 2.5]]"), HasSubstr("models[0].inputs[0][1]: must be a whole"));
  EXPECT_THAT(with_inputs(R"([{"shape": [1], "dtype": "fp32"}])"),
              HasSubstr("models[0].inputs[0].dtype: 'fp32' is not one of: float64, float32"));
  EXPECT_THAT(with_inputs(R"([{"dtype": "int8"}])"), HasSubstr("needs a \"shape\""));
  EXPECT_THAT(with_inputs(R"("inputs.csv")"), HasSubstr(".npz or .safetensors"));
  EXPECT_THAT(with_model(R"({"ref": "a:b", "sha256": "ABC"})"), HasSubstr("64 lower-case"));
  EXPECT_THAT(with_model(R"({"ref": "a:b", "healthy": "yes"})"), HasSubstr("true or false"));
  EXPECT_THAT(with_model(R"({"ref": "a:b", "args": [1]})"), HasSubstr("keyword arguments"));
}

TEST(SpecErrors, NameAWarmUpThatIsNeitherAutoNorANumber) {
  EXPECT_EQ(message_with("measure", R"({"warmup": "auto"})"), "");
  for (const char* wrong : {R"({"warmup": "atuo"})", R"({"warmup": 2.5})", R"({"warmup": true})"}) {
    EXPECT_THAT(message_with("measure", wrong),
                HasSubstr("measure.warmup: must be \"auto\" or a whole number of at least 0"));
  }
  EXPECT_THAT(message_with("measure", R"({"warmup": -1})"), HasSubstr("measure.warmup: must be"));
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
  EXPECT_EQ(values("streams"), Json::parse("[null, 2]"));
  EXPECT_EQ(values("page_cache"), Json::parse(R"(["cold"])"));
  EXPECT_EQ(values("cores"), Json::parse(R"(["own", "0-1"])"));
  EXPECT_EQ(values("background"), Json::parse(R"([null, "cpu:1"])"));
  EXPECT_EQ(values("cool_below_celsius"), Json::parse("[45]"));
  EXPECT_TRUE(axes.at("beside").at(0).get<std::string>().ends_with("/other.pte"));
}

TEST(SpecErrors, NameWrongConditions) {
  const std::vector<std::pair<const char*, const char*>> wrong = {
      {R"({"gap": 5})", "scenario.gap: must be"},
      {R"({"gap": "5"})", "scenario.gap: '5' is not a duration"},
      {R"({"streams": 0})", "scenario.streams: must be"},
      {R"({"streams": [1, 99]})", "scenario.streams[1]: 99 streams are more than 64"},
      {R"({"page_cache": "hot"})", "unknown state of the page cache 'hot'"},
      {R"({"cores": "0,b"})", "'0,b' is no list of processors"},
      {R"({"cores": "3-1"})", "'3-1' is no list of processors"},
      {R"({"background": "disk:1"})", "'disk:1' is no background"},
      {R"({"background": "cpu:0"})", "'cpu:0' is no background"},
      {R"({"cool_below": "45"})", "a temperature in degrees Celsius"},
      {R"({"beside": "torchvision:resnet18"})", "is no finished program"},
      {R"({"gaps": "5ms"})", "unknown key 'gaps'"},
      {R"({"gap": []})", "scenario.gap: is empty"}};
  for (const auto& [scenario, message] : wrong) {
    EXPECT_THAT(message_with("scenario", scenario), HasSubstr(message)) << scenario;
  }
}

TEST(SpecErrors, NameAWrongPlanOfLaunches) {
  EXPECT_EQ(message_with("measure", R"({"interval": "1%"})"), "");
  for (const char* wrong :
       {R"({"interval": "1"})", R"({"interval": "0%"})", R"({"interval": 1})"}) {
    EXPECT_THAT(message_with("measure", wrong), HasSubstr("measure.interval: must be")) << wrong;
  }
  EXPECT_THAT(message_with("measure", R"({"most_launches": 9})"),
              HasSubstr("\"most_launches\" needs an \"interval\""));
  EXPECT_THAT(message_with("measure", R"({"interval": "1%", "launches": 9, "most_launches": 8})"),
              HasSubstr("\"launches\" 9 is more than \"most_launches\" 8"));
}

TEST(SpecErrors, AskForUnits) {
  EXPECT_THAT(message_with("measure", R"({"time_budget": "20"})"),
              AllOf(HasSubstr("measure.time_budget: '20' is not a duration"), HasSubstr("20s")));
  EXPECT_THAT(message_with("require", R"({"steady_ns": "<=12"})"),
              HasSubstr("require.steady_ns: '<=12' is not a bound"));
  EXPECT_THAT(message_with("require", R"({"sqnr_db": 30})"), HasSubstr("a bound in quotes"));
}

TEST(SpecErrors, NameWrongTolerances) {
  const auto with_tolerance = [](std::string_view tolerance) {
    return message_with("evaluate", R"({"tolerance": )" + std::string(tolerance) + "}");
  };
  EXPECT_EQ(with_tolerance(R"({"sqnr_bd": 20, "why": "x"})"),
            "x.json: evaluate.tolerance: unknown key 'sqnr_bd'; did you mean 'sqnr_db'?");
  EXPECT_THAT(with_tolerance(R"({"sqnr_db": 20})"),
              HasSubstr("evaluate.tolerance: needs a \"why\""));
  EXPECT_THAT(with_tolerance(R"({"sqnr_db": "20", "why": "x"})"),
              HasSubstr("evaluate.tolerance.sqnr_db: must be a number"));
  EXPECT_THAT(with_tolerance(R"({"qdq": {"sqnr": 20}, "why": "x"})"),
              HasSubstr("evaluate.tolerance.qdq: unknown key 'sqnr'"));
  EXPECT_THAT(with_tolerance(R"({"qdq": {"float32": {}}, "why": "x"})"),
              HasSubstr("evaluate.tolerance.qdq: unknown key 'float32'"));
  EXPECT_THAT(with_tolerance("3"), HasSubstr("must be an object"));
  EXPECT_EQ(with_tolerance(R"({"why": "x", "allow_nondeterminism": true, "separation_db": 2,
                               "qdq": {"sqnr_db": 30}, "integer": {"max_abs_error": 1}})"),
            "");
  EXPECT_EQ(message_with("require", R"({"qdq.sqnr_db": ">=30"})"), "");
  EXPECT_THAT(message_with("require", R"({"qbq.sqnr_db": ">=30"})"), HasSubstr("unknown metric"));
}

TEST(SpecErrors, SeeContradictions) {
  EXPECT_THAT(message_with("measure", R"({"iterations": 2, "min_iterations": 3})"),
              HasSubstr("is more than"));
  EXPECT_EQ(message_with("measure", R"({"iterations": 2})"), "") << "the default gives way";
  EXPECT_THAT(message_with("calibration", R"({"seed": 1})"), HasSubstr("the same seed 1"));
  EXPECT_THAT(message_of([](Json& spec) { spec.erase("recipes"); }),
              HasSubstr("needs \"recipes\""));
  EXPECT_THAT(message_of([](Json& spec) { spec.erase("models"); }), HasSubstr("needs \"models\""));
  EXPECT_THAT(message_with("models", "[]"), HasSubstr("models: is empty"));
}

TEST(SpecErrors, ComeAllAtOnce) {
  const auto message = message_of([](Json& spec) {
    spec["name"] = 1;
    spec["seed"] = "x";
    spec["recipes"] = {"nope"};
  });
  EXPECT_THAT(message, AllOf(HasSubstr("name: "), HasSubstr("seed: "), HasSubstr("recipes[0]: ")));
}

TEST(SpecErrors, LeaveForeignNamesToPlugins) {
  EXPECT_EQ(message_with("recipes", R"(["vendor:npu-int8"])"), "");
  EXPECT_EQ(message_with("recipes", R"(["executorch/recipe:xnnpack_fp32"])"), "");
  EXPECT_EQ(message_with("require", R"({"vendor:cycles": "<=5"})"), "");
  auto document = minimal();
  document["models"] = {"lab_net"};
  document["recipes"] = {"lab-recipe"};
  auto context = context_in_folder();
  EXPECT_FALSE(spec_from_json(document, context).has_value());
  context.has_plugins = true;
  EXPECT_TRUE(spec_from_json(document, context).has_value());
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
    const auto spec = read_spec_file(entry.path());
    EXPECT_TRUE(spec.has_value()) << spec.error().message;
    ++count;
  }
  EXPECT_GE(count, 2);
}

// The object of the schema that a path of spec_keys() means.
const Json& schema_object(const Json& schema, std::string_view path) {
  const auto& defs = schema.at("$defs");
  if (path.empty()) {
    return schema;
  }
  if (path == "models[].inputs[]") {
    return defs.at("input");
  }
  auto name = std::string(path.substr(path.find('.') == path.npos ? 0 : path.find('.') + 1));
  for (const std::string_view plural : {"models[]", "recipes[]"}) {
    if (name == plural) {
      name = plural.substr(0, plural.size() - 3);
    }
  }
  return defs.at(name == "exclude[]" ? "exclude" : name);
}

TEST(SpecSchema, KnowsTheSameKeysAsTheReader) {
  const auto schema = parse_json(spec_data("spec.schema.json"), "schema").value();
  for (const auto& [path, keys] : spec_keys()) {
    std::set<std::string> in_schema;
    const auto& object = schema_object(schema, path);
    for (const auto& [key, ignored] : object.at("properties").items()) {
      in_schema.insert(key);
    }
    EXPECT_EQ(in_schema, std::set<std::string>(keys.begin(), keys.end())) << path;
    EXPECT_EQ(object.at("additionalProperties"), false) << path;
  }
}

TEST(SpecSchema, KnowsTheSameWordsAsTheReader) {
  const auto schema = parse_json(spec_data("spec.schema.json"), "schema").value();
  const auto& defs = schema.at("$defs");
  const auto names_of = [](const auto& table) {
    Json names = Json::array();
    for (const auto& entry : table) {
      names.push_back(entry.second);
    }
    return names;
  };
  EXPECT_EQ(defs.at("input").at("properties").at("dtype").at("enum"), names_of(kEnumNames<Dtype>));
  EXPECT_EQ(defs.at("measure").at("properties").at("passes").at("items").at("enum"),
            names_of(kEnumNames<Pass>));
  EXPECT_EQ(schema.at("properties").at("expand").at("enum"), names_of(kEnumNames<Expand>));
}

}  // namespace
}  // namespace assay
