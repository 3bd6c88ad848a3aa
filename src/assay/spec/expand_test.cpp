#include "assay/spec/expand.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "assay/base/digest.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/case.h"
#include "assay/spec/spec.h"
#include "assay/spec/testing/expand_fixture.h"

namespace assay {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

Result<Spec> settings_from(const Json& fields) {
  Json document = {{"schema", "assay/spec/1"}};
  document.update(fields);
  return spec_from_json(document, {.origin = "x.json", .has_models = false});
}

std::set<std::string> reasons_of(const Expansion& expansion) {
  std::set<std::string> reasons;
  for (const auto& cell : expansion.refused) {
    reasons.insert(cell.reason);
  }
  return reasons;
}

const Json& design_example() {
  static const Json example = Json::parse(R"({
    "models": [{"ref": "torchvision:mobilenet_v2", "seed": 0, "inputs": [[1,3,224,224], [1,3,192,192]]},
               {"ref": "file:kws.onnx", "url": "https://example.org/kws.onnx", "inputs": "kws_inputs.npz"}],
    "recipes": ["executorch/xnnpack-fp32", "executorch/xnnpack-int8",
                {"name": "mine", "quantization": "xnnpack-int8-dynamic", "lowering":
                 {"flow": "to_edge_transform_and_lower", "partitioner": "xnnpack",
                  "options": {"per_op_mode": true}}}],
    "engines": ["executorch@1.5.1", "onnxruntime"],
    "options": {"threads": [1, 2]},
    "devices": ["local"],
    "measure": {"launches": 3, "time_budget": "20s"},
    "evaluate": {"against": ["float32", "qdq"], "tolerance": {"sqnr_db": 20, "why": "int8 activations"}},
    "require": {"delegated_ratio": ">=0.99"},
    "exclude": [{"recipe": "mine", "options": {"threads": 2}}]})");
  return example;
}

TEST_F(ExpandSpec, MakesTheCasesOfTheDesignsExample) {
  add_file("kws.onnx", "model");
  add_file("kws_inputs.npz", "inputs");
  const auto expansion = expansion_of(design_example());
  EXPECT_THAT(
      labels_of(expansion),
      ElementsAre("mobilenet_v2 executorch/xnnpack-fp32 1x3x224x224 threads=1 executorch@1.5.1",
                  "mobilenet_v2 executorch/xnnpack-fp32 1x3x224x224 threads=2 executorch@1.5.1",
                  "mobilenet_v2 executorch/xnnpack-int8 1x3x224x224 threads=1 executorch@1.5.1",
                  "mobilenet_v2 executorch/xnnpack-int8 1x3x224x224 threads=2 executorch@1.5.1",
                  "mobilenet_v2 mine 1x3x224x224 threads=1 executorch@1.5.1",
                  "mobilenet_v2 executorch/xnnpack-fp32 1x3x192x192 threads=1 executorch@1.5.1",
                  "mobilenet_v2 executorch/xnnpack-fp32 1x3x192x192 threads=2 executorch@1.5.1",
                  "mobilenet_v2 executorch/xnnpack-int8 1x3x192x192 threads=1 executorch@1.5.1",
                  "mobilenet_v2 executorch/xnnpack-int8 1x3x192x192 threads=2 executorch@1.5.1",
                  "mobilenet_v2 mine 1x3x192x192 threads=1 executorch@1.5.1",
                  "kws threads=1 onnxruntime@1.27.0", "kws threads=2 onnxruntime@1.27.0"));
  EXPECT_EQ(expansion.legal_cells, 12);
  EXPECT_EQ(expansion.excluded_cells, 2);
  EXPECT_THAT(expansion.warnings, SizeIs(0));
  EXPECT_THAT(expansion.refused, SizeIs(7))
      << "2 shapes x 3 recipes on onnxruntime, kws on executorch";
  EXPECT_THAT(reasons_of(expansion),
              ElementsAre("executorch does not load onnx programs",
                          "the recipe makes pte for executorch, not for onnxruntime"));
  EXPECT_EQ(expansion.refused[0].cells, 2);
}

TEST_F(ExpandSpec, FillsEveryPartOfACase) {
  add_file("kws.onnx", "model");
  add_file("kws_inputs.npz", "inputs");
  const auto expansion = expansion_of(design_example());
  const auto& cell = expansion.cases.front();
  EXPECT_EQ(cell.engine, "executorch");
  EXPECT_EQ(cell.options, (Json{{"threads", 1}}));
  EXPECT_EQ(cell.device, "local");
  EXPECT_EQ(cell.device_class, local().device_class);
  EXPECT_EQ(cell.require, (Json{{"delegated_ratio", ">=0.99"}}));
  EXPECT_EQ(cell.inputs.seed, 1U);
  EXPECT_EQ(cell.inputs.role, "evaluation");
  EXPECT_EQ(cell.calibration.seed, 1000U);
  EXPECT_EQ(cell.calibration.count, 8);
  EXPECT_EQ(cell.calibration.role, "calibration");
  const auto& kws = expansion.cases.back();
  EXPECT_EQ(kws.model.source_sha256, sha256_hex("model"));
  EXPECT_EQ(kws.inputs.generator, "file");
  EXPECT_EQ(kws.inputs.file_sha256, sha256_hex("inputs"));
  EXPECT_EQ(kws.recipe.name, "program");
  EXPECT_EQ(kws.recipe.produces, "onnx");
}

TEST_F(ExpandSpec, GivesEveryCaseAKeyOfItsOwnThatStaysTheSame) {
  add_file("kws.onnx", "model");
  add_file("kws_inputs.npz", "inputs");
  std::set<std::string> keys;
  for (int repeat = 0; repeat < 2; ++repeat) {
    const auto expansion = expansion_of(design_example());
    for (const auto& cell : expansion.cases) {
      keys.insert(case_key(cell));
    }
  }
  EXPECT_THAT(keys, SizeIs(12));
}

TEST_F(ExpandSpec, MakesConditionsAnAxisWhoseDefaultLeavesTheKeyAlone) {
  add_file("other.pte", "program");
  Json document = Json::parse(R"({"models": ["torchvision:resnet18"],
                                  "recipes": ["executorch/xnnpack-fp32"]})");
  const auto plain = expansion_of(document);
  document["scenario"] = {{"gap", {"0ms", "5ms"}}, {"beside", {"none", "other.pte"}}};
  const auto expansion = expansion_of(document);
  ASSERT_THAT(plain.cases, SizeIs(1));
  ASSERT_THAT(expansion.cases, SizeIs(4));
  EXPECT_EQ(case_key(expansion.cases[0]), case_key(plain.cases[0]));
  EXPECT_EQ(label_of(expansion.cases[3]),
            "resnet18 executorch/xnnpack-fp32 beside=other.pte gap=5ms");
  EXPECT_EQ(identity_of(expansion.cases[3]).at("scenario"),
            Json({{"gap_ns", 5'000'000}, {"beside_sha256", sha256_hex("program")}}));
}

TEST_F(ExpandSpec, ExpandsSettingsWithoutAModel) {
  const auto spec = settings_from({{"recipes", {"executorch/xnnpack-fp32", "executorch/portable"}},
                                   {"evaluate", {{"against", {"float32", "qdq"}}, {"samples", 7}}},
                                   {"options", {{"threads", {1, 2}}}}});
  ASSERT_TRUE(spec) << spec.error().message;
  const auto settings = expand_settings(*spec, context_);
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_THAT(labels_of(*settings),
              ElementsAre("executorch/xnnpack-fp32 threads=1 executorch@1.5.1",
                          "executorch/xnnpack-fp32 threads=2 executorch@1.5.1",
                          "executorch/portable threads=1 executorch@1.5.1",
                          "executorch/portable threads=2 executorch@1.5.1"));
  EXPECT_EQ(settings->cases[0].model.ref, "");
  EXPECT_EQ(settings->cases[0].inputs.count, 7);
}

TEST_F(ExpandSpec, SettingsHaveRecipesAndNoModels) {
  EXPECT_THAT(settings_from(Json::object()).error().message, HasSubstr("needs \"recipes\""));
  EXPECT_THAT(
      settings_from({{"recipes", {"executorch/portable"}}, {"models", {"a:b"}}}).error().message,
      HasSubstr("leave \"models\" out"));
}

TEST_F(ExpandSpec, RefusesADeviceThatIsNotThereOrThereTwice) {
  const auto absent = error_of({{"devices", {"local", "adb:pixel8"}}});
  EXPECT_EQ(absent.code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(absent.message, "x.json: devices[1]: unknown device 'adb:pixel8'; known: local");
  EXPECT_THAT(error_of({{"devices", {"lokal"}}}).message, HasSubstr("did you mean 'local'?"));
  const auto twice = error_of({{"devices", {"local", "local"}}});
  EXPECT_EQ(twice.code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(twice.message, HasSubstr("devices[1]: duplicate device 'local'"));
}

TEST_F(ExpandSpec, TellsModelsOfOneNameApart) {
  std::filesystem::create_directories(folder_.path() / "a");
  std::filesystem::create_directories(folder_.path() / "b");
  const Json models = {add_file("a/net.pte", "1"), add_file("b/net.pte", "2")};
  EXPECT_THAT(labels_of(expansion_of({{"models", models}})),
              ElementsAre("a/net executorch@1.5.1", "b/net executorch@1.5.1"));
}

TEST_F(ExpandSpec, KeepsARepeatedCaseWhereThatIsWanted) {
  std::filesystem::create_directories(folder_.path() / "a");
  std::filesystem::create_directories(folder_.path() / "b");
  const Json fields = {{"models", {add_file("a/net.pte", "1"), add_file("b/net.pte", "1")}},
                       {"recipes", Json::array()}};
  EXPECT_THAT(expansion_of(fields).cases, SizeIs(1));
  context_.keeps_repeated = true;
  const auto both = expansion_of(fields);
  ASSERT_THAT(both.cases, SizeIs(2));
  EXPECT_EQ(case_key(both.cases[0]), case_key(both.cases[1]));
  EXPECT_THAT(both.warnings, SizeIs(0));
}

TEST_F(ExpandSpec, WarnsOfAnExcludeThatMatchesNothing) {
  const auto expansion =
      expansion_of({{"exclude", {{{"recipe", "mine"}}, {{"options", {{"threads", 1}}}}}}});
  EXPECT_THAT(expansion.warnings, ElementsAre(HasSubstr("exclude[0]"), HasSubstr("exclude[1]")));
  EXPECT_THAT(expansion.cases, SizeIs(1));
}

TEST_F(ExpandSpec, ExcludesByModelEngineAndDevice) {
  const Json matrix = {{"models", {"torchvision:resnet18", "torchvision:resnet50"}},
                       {"engines", {"executorch@1.5.1", "executorch@mine"}},
                       {"devices", {"local", "ssh:lab"}}};
  context_.devices.push_back(local());
  context_.devices.back().name = "ssh:lab";
  const auto count_without = [&](const Json& rule) {
    auto fields = matrix;
    fields["exclude"] = {rule};
    return expansion_of(fields).cases.size();
  };
  EXPECT_EQ(expansion_of(matrix).cases.size(), 8U);
  EXPECT_EQ(count_without({{"model", "resnet18"}}), 4U);
  EXPECT_EQ(count_without({{"model", "torchvision:resnet18"}, {"device", "local"}}), 6U);
  EXPECT_EQ(count_without({{"engine", "executorch@mine"}}), 4U);
  EXPECT_EQ(count_without({{"engine", "executorch"}}), 0U);
}

TEST_F(ExpandSpec, ExcludesByTheConditionsOfTiming) {
  const Json matrix = {{"models", {"torchvision:resnet18", "torchvision:resnet50"}},
                       {"scenario", {{"cores", {"any", "0", "1"}}}}};
  const auto count_without = [&](const Json& scenario) {
    auto fields = matrix;
    fields["exclude"] = {{{"model", "resnet18"}, {"scenario", scenario}}};
    return expansion_of(fields).cases.size();
  };
  EXPECT_EQ(expansion_of(matrix).cases.size(), 6U);
  EXPECT_EQ(count_without({{"cores", "0"}}), 5U);
  EXPECT_EQ(count_without({{"cores", {"any", "1"}}}), 4U);
  EXPECT_EQ(count_without({{"cores", "0"}, {"gap", "1ms"}}), 6U);
}

TEST_F(ExpandSpec, CountsBeforeItRuns) {
  const auto error = error_of({{"options", {{"a", {1, 2, 3}}, {"b", {1, 2}}}}, {"max_cases", 5}});
  EXPECT_EQ(error.code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(error.message,
              AllOf(HasSubstr("6 cases exceed the limit of 5"), HasSubstr("pairwise")));
  Json options = Json::object();
  for (const auto* name : {"a", "b", "c", "d", "e", "f", "g"}) {
    options[name] = {1, 2, 3, 4, 5, 6, 7, 8};
  }
  EXPECT_THAT(error_of({{"options", options}}).message, HasSubstr("2097152 cells"));
}

TEST_F(ExpandSpec, ReducesToPairsOnRequest) {
  const Json options = {{"a", {1, 2, 3}}, {"b", {1, 2, 3}}, {"c", {1, 2, 3}}, {"d", {1, 2, 3}}};
  const auto expansion =
      expansion_of({{"options", options}, {"expand", "pairwise"}, {"max_cases", 20}});
  EXPECT_EQ(expansion.legal_cells, 81);
  EXPECT_LE(expansion.cases.size(), 15U);
  std::set<std::string> pairs;
  for (const auto& cell : expansion.cases) {
    pairs.insert(cell.options.at("a").dump() + cell.options.at("d").dump());
  }
  EXPECT_THAT(pairs, SizeIs(9));
}

TEST_F(ExpandSpec, NamesModelsOfOneReferenceByTheirArguments) {
  const auto model = [](Json args, unsigned seed) {
    return Json{{"ref", "torchvision:resnet18"}, {"args", std::move(args)}, {"seed", seed}};
  };
  const auto expansion = expansion_of(
      {{"models",
        {model({{"width", 1}, {"kind", "a"}}, 0U), model({{"width", 2}, {"kind", "a"}}, 0U),
         model({{"kind", "a"}}, 1U), "torchvision:alexnet"}}});
  ASSERT_THAT(expansion.cases, SizeIs(4));
  const auto name = [&](int i) { return display_name(expansion.cases.at(i).model); };
  EXPECT_EQ(name(0), "resnet18 seed=0 width=1");
  EXPECT_EQ(name(1), "resnet18 seed=0 width=2");
  EXPECT_EQ(name(2), "resnet18 seed=1");
  EXPECT_EQ(name(3), "alexnet");
  auto plain = expansion.cases[0];
  plain.model.name.clear();
  EXPECT_EQ(case_key(plain), case_key(expansion.cases[0]));
}

TEST_F(ExpandSpec, RunsWhatStandsTwiceOnce) {
  const auto expansion =
      expansion_of({{"models", {"torchvision:resnet18", "torchvision:resnet18"}}});
  EXPECT_THAT(expansion.cases, SizeIs(1));
  EXPECT_THAT(expansion.warnings, ElementsAre(HasSubstr("occurs in the matrix twice")));
}

TEST_F(ExpandSpec, TellsOfARecipeThatNoModelNeeds) {
  const auto program = add_file("net.pte", "program");
  const auto told = expansion_of({{"models", {program}}}).warnings;
  EXPECT_THAT(told, ElementsAre(AllOf(HasSubstr("recipe 'executorch/xnnpack-fp32' is not used"),
                                      HasSubstr("'net' is a finished program"))));
  const auto mixed = expansion_of({{"models", {program, "torchvision:mobilenet_v2"}}});
  EXPECT_THAT(mixed.warnings, SizeIs(0)) << "it makes the model's";
}

}  // namespace
}  // namespace assay
