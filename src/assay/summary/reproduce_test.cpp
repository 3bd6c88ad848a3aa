#include "assay/summary/reproduce.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/tensor/dtype.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

Case preset_case() {
  return {.model = {.ref = "torchvision:mobilenet_v2", .seed = 7},
          .recipe = {.name = "executorch/xnnpack-fp32", .is_preset = true},
          .engine = "executorch",
          .calibration = {.seed = 1000, .count = 8, .role = "calibration"},
          .engine_build = "executorch@1.5.1"};
}

TEST(Reproduce, KeepsWhatTheCaseIs) {
  auto cell = preset_case();
  cell.model.inputs = {{.shape = {1, 3, 64, 64}}};
  cell.model.args = {{"width", 2}};
  cell.options = {{"threads", 2}, {"mode", "it's"}};
  cell.scenario = {{"gap_ns", 5'000'000}};
  cell.require = {{"steady_ns", "<=12ms"}};
  EXPECT_EQ(command_from_case(cell, {.flags = {"--library", "/my lib.so"}}),
            "assay bench torchvision:mobilenet_v2 --args '{\"width\":2}' --input-shape 1,3,64,64 "
            "--recipe executorch/xnnpack-fp32 --seed 7 --engine executorch@1.5.1 "
            "--option 'mode=it'\\''s' --option threads=2 --scenario gap=5ms "
            "--require 'steady_ns<=12ms' --library '/my lib.so'");
}

TEST(Reproduce, IsAnEvaluationOfWhatWasOnlyEvaluated) {
  auto cell = preset_case();
  cell.inputs.count = 2;
  EXPECT_EQ(command_from_case(cell, {.passes = {Pass::kEvaluate}, .against = {"float32", "qdq"}}),
            "assay eval torchvision:mobilenet_v2 --recipe executorch/xnnpack-fp32 --seed 7 "
            "--samples 2 --against float32 --against qdq --engine executorch@1.5.1");
}

TEST(Reproduce, OfAProgramNamesNoRecipe) {
  const Case cell{.model = {.ref = "/m/net.onnx", .dimensions = {{"batch", 2}}},
                  .recipe = {.name = "program", .is_preset = true},
                  .engine = "onnxruntime"};
  EXPECT_EQ(command_from_case(cell, {}),
            "assay bench /m/net.onnx --dimension batch=2 --engine onnxruntime");
}

TEST(Reproduce, IsASpecWhereFlagsCannotSayIt) {
  const auto is_spec = [](const Case& cell, const Reproduction& how = {}) {
    return command_from_case(cell, how).starts_with("assay run '{");
  };
  EXPECT_FALSE(is_spec(preset_case()));
  auto cell = preset_case();
  cell.recipe = {.name = "mine", .lowering = {{"partitioner", "xnnpack"}}, .produces = "pte"};
  EXPECT_TRUE(is_spec(cell));
  EXPECT_THAT(command_from_case(cell, {}), HasSubstr("\"partitioner\":\"xnnpack\""));
  cell = preset_case();
  cell.inputs.seed = 5;
  EXPECT_TRUE(is_spec(cell));
  cell = preset_case();
  cell.inputs.count = 8;
  EXPECT_TRUE(is_spec(cell)) << "bench takes no --samples";
  cell = preset_case();
  cell.model.weight_init = false;
  EXPECT_TRUE(is_spec(cell));
  cell = preset_case();
  cell.model.inputs = {{.dtype = Dtype::kInt64, .shape = {2}}};
  EXPECT_TRUE(is_spec(cell));
  cell = preset_case();
  cell.options = {{"shapes", "a:1,b:2"}};
  EXPECT_TRUE(is_spec(cell));
  cell.options = {{"mode", "2"}};
  EXPECT_TRUE(is_spec(cell)) << "a text that would read as a number";
  cell = preset_case();
  cell.scenario = {{"streams", 2}};
  EXPECT_TRUE(is_spec(cell, {.passes = {Pass::kEvaluate}})) << "eval takes no --scenario";
}

TEST(Reproduce, IsASpecWhereNoVerbMakesAllPasses) {
  const auto command = [](std::vector<Pass> passes, std::vector<std::string> flags = {}) {
    auto cell = preset_case();
    cell.expected_file = "/data/expected.safetensors";
    return command_from_case(cell, {.passes = std::move(passes), .flags = std::move(flags)});
  };
  EXPECT_THAT(command({Pass::kTiming, Pass::kMemory}), StartsWith("assay bench "));
  const auto both = command({Pass::kEvaluate, Pass::kTiming});
  EXPECT_THAT(both, StartsWith("assay run '{")) << "bench does not evaluate";
  EXPECT_THAT(both, HasSubstr(R"("passes":["evaluate","timing"])"));
  EXPECT_THAT(both, HasSubstr(R"("expected":"/data/expected.safetensors")"));
  EXPECT_THAT(command({Pass::kEvaluate, Pass::kMemory}), StartsWith("assay run '{"));
  EXPECT_THAT(command({Pass::kTiming, Pass::kProfile}), StartsWith("assay run '{"));
  EXPECT_THAT(command({Pass::kTiming, Pass::kMemory, Pass::kProfile}, {"--profile"}),
              StartsWith("assay bench "));
}

TEST(Reproduce, TakesFlagsOfLaunchesOver) {
  const std::vector<std::string> bench = {"assay", "bench",          "m",  "--launches",
                                          "2",     "--library=a.so", "-q", "--leak-check"};
  EXPECT_THAT(launch_flags(bench, false),
              ElementsAre("--launches", "2", "--library=a.so", "--leak-check"));
  EXPECT_THAT(launch_flags(bench, true), ElementsAre("--library=a.so"));
  EXPECT_THAT(
      launch_flags({"assay", "run", "s.json", "--plugin", "p.py", "--launches", "9"}, false),
      ElementsAre("--plugin", "p.py"));
}

}  // namespace
}  // namespace assay
