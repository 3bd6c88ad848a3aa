// Tests that messages about a wrong spec name the file, the path in it, and the fix.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/spec/spec.h"
#include "assay/spec/testing/sample_spec.h"

namespace assay {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(SpecErrors, NameFilePathAndFixOfATypo) {
  EXPECT_EQ(message_with("modles", "[]"), "x.json: unknown key 'modles'; did you mean 'models'?");
  EXPECT_EQ(message_with("measure", R"({"iteratons": 5})"),
            "x.json: measure: unknown key 'iteratons'; did you mean 'iterations'?");
  EXPECT_EQ(message_with("models", R"([{"ref": "torchvision:resnet18", "sed": 1}])"),
            "x.json: models[0]: unknown key 'sed'; did you mean 'seed'?");
  EXPECT_THAT(message_with("exclude", R"([{"modell": "x"}])"),
              HasSubstr("exclude[0]: unknown key 'modell'; did you mean 'model'?"));
  EXPECT_THAT(message_with("evaluate", R"({"agianst": []})"), HasSubstr("did you mean 'against'?"));
  EXPECT_THAT(message_with("calibration", R"({"batchs": 1})"),
              HasSubstr("did you mean 'batches'?"));
}

TEST(SpecErrors, AskForTheSchema) {
  auto document = minimal_spec();
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
  EXPECT_THAT(message_with("models", R"(["torchvision:resnt18"])"),
              HasSubstr("models[0]: torchvision "));
  EXPECT_THAT(message_with("models", R"(["file:net"])"), HasSubstr("unknown kind of file"));
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

TEST(SpecErrors, NameAWrongConditionOnce) {
  EXPECT_EQ(message_with("scenario", R"({"gap": 20})"),
            "x.json: scenario.gap: must be a duration with its unit in quotes, such as \"20ms\", "
            "not a whole number");
  EXPECT_EQ(message_with("scenario", R"({"cores": 3})"),
            "x.json: scenario.cores: must be a string, not a whole number");
}

TEST(SpecErrors, NameWrongTypes) {
  EXPECT_EQ(message_with("models", R"("torchvision:resnet18")"),
            "x.json: models: must be a list, not 'torchvision:resnet18'");
  EXPECT_EQ(message_with("measure", R"({"interval": "1"})"),
            "x.json: measure.interval: must be a share of the median such as \"1%\", not '1'");
  EXPECT_THAT(message_with("measure", fmt::format(R"({{"launches": "{}"}})", std::string(41, '3'))),
              HasSubstr("must be a whole number, not a string"));
  EXPECT_THAT(message_with("models", "[3]"), HasSubstr("models[0]: must be an object"));
  EXPECT_THAT(message_with("measure", R"({"launches": "3"})"),
              HasSubstr("measure.launches: must be a whole number, not '3'"));
  EXPECT_THAT(message_with("measure", R"({"launches": 2.5})"), HasSubstr("not a fraction"));
  EXPECT_THAT(message_with("measure", R"({"launches": 100000000000000000000})"),
              HasSubstr("not a number out of range"));
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
  EXPECT_THAT(message_with("engines", R"(["executorch", "executorch"])"), HasSubstr("duplicate"));
  EXPECT_THAT(message_with("recipes", R"(["executorch/portable", "executorch/portable"])"),
              HasSubstr("recipes[1]: duplicate recipe 'executorch/portable'"));
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
  EXPECT_THAT(with_inputs(R"("inputs.csv")"),
              HasSubstr("give a .npz, .safetensors or .bpte file, a folder"));
  EXPECT_THAT(with_model(R"({"ref": "a:b", "sha256": "ABC"})"), HasSubstr("64 lower-case"));
  EXPECT_THAT(with_model(R"({"ref": "a:b", "weight_init": "yes"})"), HasSubstr("true or false"));
  EXPECT_THAT(with_model(R"({"ref": "a:b", "args": [1]})"), HasSubstr("keyword arguments"));
}

TEST(SpecErrors, NameInputsAndOutputsThatDoNotBelongTogether) {
  const auto with_model = [](std::string_view model) {
    return message_with("models", "[" + std::string(model) + "]");
  };
  EXPECT_THAT(with_model(R"({"ref": "a:b", "inputs": "x.npz", "expected": "y.csv"})"),
              HasSubstr("models[0].expected: 'y.csv' holds no outputs"));
  EXPECT_THAT(with_model(R"({"ref": "a:b", "expected": "y.npz"})"),
              HasSubstr("needs \"inputs\" that come from a file"));
  EXPECT_THAT(with_model(R"({"ref": "a:b", "dimensions": {"batch": 1}})"),
              HasSubstr("models[0].dimensions: 'batch' is no open dimension of 'a:b'"));
  EXPECT_THAT(with_model(R"({"ref": "net.onnx", "dimensions": {"batch": 0}})"),
              HasSubstr("models[0].dimensions.batch: must be from 1"));
  EXPECT_THAT(with_model(R"({"ref": "net.onnx", "dimensions": {"batch": 2}})"), IsEmpty());
  EXPECT_THAT(with_model(R"({"ref": "a:b", "inputs": "data/sets/"})"), IsEmpty());
}

TEST(SpecErrors, NameReferencesThatCannotBe) {
  EXPECT_THAT(message_with("evaluate", R"({"against": ["engine:"]})"),
              HasSubstr("unknown kind of reference 'engine:'"));
  EXPECT_THAT(message_with("evaluate", R"({"against": ["engines:x"]})"), HasSubstr("engine:NAME"));
  EXPECT_THAT(message_with("evaluate", R"({"against": ["engine:onnxruntime@1.2"]})"), IsEmpty());
  EXPECT_THAT(message_with("evaluate", R"({"against": ["file"]})"),
              HasSubstr("no model has expected outputs"));
  EXPECT_THAT(message_with("evaluate", R"({"against": []})"), HasSubstr("\"against\" is empty"));
  EXPECT_THAT(message_with("evaluate", R"({"parity": true})"),
              HasSubstr("give a model \"inputs\" from a file"));
  EXPECT_THAT(message_with("evaluate", R"({"parity": 1})"), HasSubstr("true or false"));
  EXPECT_THAT(message_with("require", R"({"engine:onnxruntime@1.2.sqnr_dc": ">=3"})"),
              HasSubstr("did you mean 'sqnr_db'?"));
}

TEST(SpecErrors, NameAWarmUpThatIsNeitherAutoNorANumber) {
  EXPECT_EQ(message_with("measure", R"({"warmup": "auto"})"), "");
  for (const char* wrong : {R"({"warmup": "atuo"})", R"({"warmup": 2.5})", R"({"warmup": true})"}) {
    EXPECT_THAT(message_with("measure", wrong),
                HasSubstr("measure.warmup: must be \"auto\" or a whole number of at least 0"));
  }
  EXPECT_THAT(message_with("measure", R"({"warmup": -1})"), HasSubstr("measure.warmup: must be"));
}

TEST(SpecErrors, NameWrongConditions) {
  const std::vector<std::pair<const char*, const char*>> wrong = {
      {R"({"gap": 5})", "scenario.gap: must be"},
      {R"({"gap": "5"})", "scenario.gap: '5' is not a duration"},
      {R"({"duration": 5})", "scenario.duration: must be \"burst\""},
      {R"({"duration": "long"})", "scenario.duration: 'long' is not a duration"},
      {R"({"duration": "10ms"})", "scenario.duration: '10ms' is too short"},
      {R"({"streams": 0})", "scenario.streams: must be"},
      {R"({"streams": [1, 99]})", "scenario.streams[1]: 99 streams are more than 64"},
      {R"({"page_cache": "hot"})", "unknown state of the page cache 'hot'"},
      {R"({"cores": "0,b"})", "'0,b' is not a list of processors"},
      {R"({"cores": "3-1"})", "'3-1' is not a list of processors"},
      {R"({"background": "disk:1"})", "'disk:1' is not a background"},
      {R"({"background": "cpu:0"})", "'cpu:0' is not a background"},
      {R"({"cool_below": "45"})", "a temperature in degrees Celsius"},
      {R"({"beside": "torchvision:resnet18"})", "is not a finished program"},
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
  EXPECT_THAT(message_with("measure", R"({"interval": "1%", "launches": 5})"),
              HasSubstr("\"launches\" 5 has no interval of 95 %"));
  EXPECT_THAT(message_with("measure", R"({"most_launches": 9})"),
              HasSubstr("\"most_launches\" needs an \"interval\""));
  EXPECT_THAT(message_with("measure", R"({"interval": "1%", "launches": 9, "most_launches": 8})"),
              HasSubstr("\"launches\" 9 is more than \"most_launches\" 8"));
}

TEST(SpecErrors, AskForUnits) {
  EXPECT_THAT(message_with("measure", R"({"sensors": "often"})"),
              AllOf(HasSubstr("measure.sensors: 'often' is no period"), HasSubstr("250ms")));
  EXPECT_THAT(message_with("measure", R"({"time_budget": "20"})"),
              AllOf(HasSubstr("measure.time_budget: '20' is not a duration"), HasSubstr("20s")));
  EXPECT_THAT(message_with("require", R"({"steady_ns": "<=12"})"),
              HasSubstr("require.steady_ns: '<=12' lacks the unit of its value"));
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

TEST(SpecErrors, SeeGatesOnWhatNothingMeasures) {
  const auto message_for = [](const std::string& metric, const std::string& passes) {
    return message_of([&](Json& spec) {
      spec["require"] = {{metric, "<=3s"}};
      spec["measure"] = {{"passes", Json::parse(passes)}};
    });
  };
  EXPECT_EQ(message_for("steady_ns", R"(["timing"])"), "");
  EXPECT_THAT(message_for("steady_ns", R"(["evaluate"])"), HasSubstr("the pass \"timing\""));
  const auto message_of_gate = [](const std::string& metric, const Json& more) {
    return message_of([&](Json& spec) {
      spec["require"] = {{metric, ">=0"}};
      spec.update(more);
    });
  };
  const Json evaluated = {{"evaluate", Json::object()}};
  EXPECT_THAT(
      message_of_gate("qdq.sqnr_db", Json::object()),
      HasSubstr("require.qdq.sqnr_db: nothing measures it: it takes the pass \"evaluate\""));
  EXPECT_EQ(message_of_gate("qdq.sqnr_db", evaluated), "");
  EXPECT_THAT(message_of_gate("speedup_ratio", Json::object()), HasSubstr("a \"baseline\""));
  EXPECT_EQ(message_of_gate("speedup_ratio", {{"baseline", "executorch/xnnpack-fp32"}}), "");
  const Json loads = {{"measure", {{"leak_check", {{"loads", 30}}}}}};
  EXPECT_THAT(message_of_gate("leak_bytes_per_load", Json::object()), HasSubstr("leak check"));
  EXPECT_EQ(message_of_gate("leak_bytes_per_load", loads), "");
  EXPECT_THAT(message_of_gate("leak_bytes_per_inference", loads), HasSubstr("of inferences"));
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
  auto document = minimal_spec();
  document["models"] = {"lab_net"};
  document["recipes"] = {"lab-recipe"};
  auto context = context_in_folder();
  EXPECT_FALSE(spec_from_json(document, context).has_value());
  context.has_plugins = true;
  EXPECT_TRUE(spec_from_json(document, context).has_value());
}

TEST(SpecErrors, AnEvaluationThatCannotBeMadeIsRefused) {
  const auto message_of = [](const Json& model, const Json& evaluate, const Json& passes) {
    Json document = {{"schema", "assay/spec/1"},
                     {"models", {model}},
                     {"recipes", {"executorch/xnnpack-fp32"}},
                     {"measure", {{"passes", passes}}}};
    if (!evaluate.is_null()) {
      document["evaluate"] = evaluate;
    }
    const auto spec = spec_from_json(document, {.origin = "x.json"});
    return spec ? std::string() : spec.error().message;
  };
  const Json alone = {"evaluate"};
  for (const auto* kind : {"float32", "float64", "qdq", "lowered_eager"}) {
    EXPECT_THAT(
        message_of("net.pte", {{"against", {kind}}}, alone),
        AllOf(HasSubstr(fmt::format("\"against\" names \"{}\"", kind)),
              HasSubstr("a finished program has none"), HasSubstr("--against engine:NAME")));
  }
  EXPECT_THAT(message_of("net.pte", nullptr, alone), HasSubstr("nothing can be evaluated"));
  EXPECT_THAT(message_of("torchvision:resnet18", {{"against", {"qdq"}}}, alone),
              HasSubstr("no recipe quantizes"));
  EXPECT_THAT(message_of("torchvision:resnet18", {{"against", {"float32", "qdq"}}}, alone),
              IsEmpty());
  EXPECT_THAT(message_of("net.pte", {{"against", {"engine:executorch"}}}, alone), IsEmpty());
  EXPECT_THAT(message_of("net.bpte", nullptr, alone), IsEmpty());
  EXPECT_THAT(
      message_of({{"ref", "net.pte"}, {"inputs", "x.npz"}, {"expected", "y.npz"}}, nullptr, alone),
      IsEmpty());
  EXPECT_THAT(message_of("net.pte", {{"against", {"float32"}}}, {"timing"}), IsEmpty())
      << "nothing is evaluated";
}

}  // namespace
}  // namespace assay
