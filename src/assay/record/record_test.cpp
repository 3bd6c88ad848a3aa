#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/core_names.h"
#include "assay/record/launch.h"
#include "assay/record/metric.h"
#include "assay/record/run.h"
#include "assay/record/subject.h"

namespace assay {
namespace {

Case sample_case() {
  Case cell;
  cell.model.ref = "torchvision:mobilenet_v2";
  cell.recipe = {.name = "executorch/xnnpack-fp32", .is_preset = true};
  cell.engine = "executorch";
  cell.options = {{"threads", 1}};
  cell.device_class = "linux-x86_64:test:2cpu";
  return cell;
}

TEST(CaseKey, IgnoresBuildDeviceAndGates) {
  auto other = sample_case();
  other.engine_build = "executorch@mine";
  other.device = "ssh:lab3";
  other.require = {{"sqnr_db", ">=30"}};
  other.recipe.description = "a better text";
  EXPECT_EQ(case_key(sample_case()), case_key(other));
}

TEST(CaseKey, ChangesWithEachPartOfTheIdentity) {
  const auto key = case_key(sample_case());
  const auto differs = [&key](auto change) {
    auto other = sample_case();
    change(other);
    return case_key(other) != key;
  };
  EXPECT_TRUE(differs([](Case& c) { c.model.ref = "torchvision:mobilenet_v3_small"; }));
  EXPECT_TRUE(differs([](Case& c) { c.model.seed = 1; }));
  EXPECT_TRUE(differs([](Case& c) { c.model.args = {{"width", 0.5}}; }));
  EXPECT_TRUE(differs([](Case& c) {
    c.model.inputs = {{.name = "", .dtype = Dtype::kFloat32, .shape = {1}, .quantization = {}}};
  }));
  EXPECT_TRUE(differs([](Case& c) { c.recipe.name = "executorch/portable"; }));
  EXPECT_TRUE(differs([](Case& c) { c.options["threads"] = 2; }));
  EXPECT_TRUE(differs([](Case& c) { c.method = "decode"; }));
  EXPECT_TRUE(differs([](Case& c) { c.inputs.seed = 7; }));
  EXPECT_TRUE(differs([](Case& c) { c.device_class = "android-arm64"; }));
}

TEST(CaseKey, KnowsAFileByContentNotByPath) {
  auto here = sample_case();
  here.model = {.ref = "/home/a/net.pte", .source_sha256 = "ab"};
  auto there = here;
  there.model.ref = "/mnt/b/net.pte";
  EXPECT_EQ(case_key(here), case_key(there));
  there.model.source_sha256 = "cd";
  EXPECT_NE(case_key(here), case_key(there));
}

TEST(CaseKey, TellsSeedsOfAFactoryApartButNotOfAWeightsFile) {
  auto factory = sample_case();
  factory.model = {.ref = "net.py:make", .seed = 0, .source_sha256 = "ab"};
  auto other = factory;
  other.model.seed = 1;
  EXPECT_NE(case_key(factory), case_key(other));
  factory.model.ref = other.model.ref = "net.pt2";
  EXPECT_EQ(case_key(factory), case_key(other));
}

TEST(CaseKey, TellsHealedWeightsApart) {
  auto rescaled = sample_case();
  rescaled.model.weight_init = true;
  EXPECT_NE(case_key(rescaled), case_key(sample_case()));
}

TEST(CaseKey, KnowsAnInlineRecipeByContentNotByName) {
  auto a = sample_case();
  a.recipe = {.name = "mine", .lowering = {{"partitioner", "xnnpack"}}};
  auto b = a;
  b.recipe.name = "yours";
  EXPECT_EQ(case_key(a), case_key(b));
}

TEST(Names, AreShortForPeople) {
  EXPECT_EQ(short_name_of({.ref = "torchvision:mobilenet_v2"}), "mobilenet_v2");
  EXPECT_EQ(short_name_of({.ref = "models/kws.pte"}), "kws");
  EXPECT_EQ(short_name_of({.ref = "zoo/net.py:make"}), "net:make");
  EXPECT_EQ(label_of(sample_case()), "mobilenet_v2 executorch/xnnpack-fp32 threads=1");
  auto finished = sample_case();
  finished.model.ref = "/w/net.pte";
  finished.recipe = {.name = std::string(kProgramRecipe)};
  EXPECT_EQ(label_of(finished), "net threads=1");
}

TEST(RollUp, PutsFailureBeforeDoubtBeforePass) {
  using enum Outcome;
  EXPECT_EQ(roll_up(kCompleted, Accuracy::kPass, Timing::kSteady, false), Verdict::kPass);
  EXPECT_EQ(roll_up(kCompleted, Accuracy::kPass, Timing::kSteady, true), Verdict::kFail);
  EXPECT_EQ(roll_up(kCompleted, Accuracy::kVacuous, Timing::kSteady, false),
            Verdict::kInconclusive);
  EXPECT_EQ(roll_up(kCompleted, Accuracy::kPass, Timing::kUnsteady, false), Verdict::kInconclusive);
  EXPECT_EQ(roll_up(kCompleted, Accuracy::kFailNumeric, Timing::kUnsteady, false), Verdict::kFail);
  EXPECT_EQ(roll_up(kUnsupported, Accuracy::kNotChecked, Timing::kNotMeasured, false),
            Verdict::kSkipped);
  EXPECT_EQ(roll_up(kUnsupported, Accuracy::kFailNumeric, Timing::kSteady, false), Verdict::kFail)
      << "a wrong answer stays one, whatever else an engine refuses";
  EXPECT_EQ(roll_up(kUnsupported, Accuracy::kVacuous, Timing::kSteady, false),
            Verdict::kInconclusive);
  EXPECT_EQ(roll_up(kUnsupported, Accuracy::kPass, Timing::kUnsteady, false), Verdict::kSkipped);
  EXPECT_EQ(roll_up(kHarnessError, Accuracy::kPass, Timing::kSteady, false), Verdict::kFail);
}

TEST(OutcomeTable, TellsLoadingFromRunningAndOurFaultFromTheEngines) {
  EXPECT_EQ(outcome_from_error(ErrorCode::kCorrupt, Stage::kLoad), Outcome::kLoadError);
  EXPECT_EQ(outcome_from_error(ErrorCode::kEngine, Stage::kSteady), Outcome::kRunError);
  EXPECT_EQ(outcome_from_error(ErrorCode::kEngine, Stage::kLower), Outcome::kAotError);
  EXPECT_EQ(outcome_from_error(ErrorCode::kInternal, Stage::kLoad), Outcome::kHarnessError);
  EXPECT_EQ(outcome_from_error(ErrorCode::kUnsupported, Stage::kLoad), Outcome::kUnsupported);
}

TEST(Metric, CarriesNanAndInfinityAsAMark) {
  const auto infinite = make_metric("sqnr_db", std::numeric_limits<double>::infinity());
  EXPECT_EQ(infinite.special, "inf");
  const Metric back = nlohmann::json::parse(nlohmann::json(infinite).dump()).get<Metric>();
  EXPECT_TRUE(std::isinf(double_from_metric(back)));
  EXPECT_TRUE(std::isnan(double_from_metric(make_metric("sqnr_db", std::nan("")))));
  EXPECT_EQ(double_from_metric(make_metric("sqnr_db", 3.5)), 3.5);
}

TEST(Estimate, CarriesNanAndInfinityAsAMark) {
  const Estimate infinite{.value = HUGE_VAL, .count = 3};
  const Estimate back = nlohmann::json::parse(nlohmann::json(infinite).dump()).get<Estimate>();
  EXPECT_EQ(back.special, "inf");
  EXPECT_EQ(back.value, 0);
  EXPECT_EQ(nlohmann::json(Estimate{.value = NAN}).at("special"), "nan");
  EXPECT_EQ(nlohmann::json(Estimate{.value = 0, .special = "-inf"}).at("special"), "-inf");
}

TEST(Metric, OfAStageOfLoadingIsDefinedByItsName) {
  const auto* stage = find_metric("load_compile_model_ns");
  ASSERT_NE(stage, nullptr);
  EXPECT_EQ(stage->unit, "ns");
  EXPECT_EQ(stage->title, "load compile model");
  EXPECT_TRUE(is_time_of_launches(*stage));
  EXPECT_EQ(find_metric("load_compile_model_ns"), stage);
  EXPECT_EQ(definition_of("load_compile_model_ns", {}).unit, "ns");
  for (const auto* name : {"load_ns", "load_x", "load__", "reload_x_ns", "load_a b_ns"}) {
    EXPECT_TRUE(find_metric(name) == nullptr || name == std::string_view("load_ns")) << name;
  }
}

TEST(Metric, NamesAreUnique) {
  for (const auto& definition : metric_definitions()) {
    EXPECT_EQ(find_metric(definition.name), &definition) << definition.name;
  }
}

TEST(Launch, SurvivesJsonWithAbsentParts) {
  Launch launch{.id = "x", .outcome = Outcome::kCrashed, .stage = Stage::kFirst};
  launch.end.signal_name = "SIGSEGV";
  launch.load = LoadReport{.stages = {{"program", 5}}};
  const auto back = nlohmann::json::parse(nlohmann::json(launch).dump()).get<Launch>();
  EXPECT_EQ(back.outcome, Outcome::kCrashed);
  EXPECT_EQ(back.stage, Stage::kFirst);
  ASSERT_TRUE(back.load.has_value());
  EXPECT_EQ(back.load->stages.at(0).ns, 5);
  EXPECT_FALSE(back.measurement.has_value());
}

TEST(Artifact, DigestDependsOnContentNotOnOrder) {
  Artifact a{.files = {{"p.pte", "program", 1, "aa"}, {"w.ptd", "data", 2, "bb"}}};
  Artifact b{.files = {{"w.ptd", "data", 2, "bb"}, {"p.pte", "program", 1, "aa"}}};
  EXPECT_EQ(a.digest(), b.digest());
  b.files[0].sha256 = "cc";
  EXPECT_NE(a.digest(), b.digest());
}

TEST(CoreNames, AreThoseOfTheMachine) {
  Environment machine{.cpus = 3};
  EXPECT_EQ(cores_on_machine("big", machine), (std::vector{0, 1, 2})) << "all are alike";
  EXPECT_EQ(cores_on_machine("0,2", machine), (std::vector{0, 2}));
  EXPECT_EQ(cores_on_machine("little", machine).error().message,
            "the device has no 'little' cores; it has big ones only, as all are alike");
  machine.details[kCoresDetail] = {{"big", "2"}, {"little", "0-1"}};
  EXPECT_EQ(cores_on_machine("big", machine), std::vector{2});
  EXPECT_EQ(cores_on_machine("little", machine), (std::vector{0, 1}));
  EXPECT_EQ(cores_on_machine("mid", machine).error().message,
            "the device has no 'mid' cores; it has big 2, little 0-1");
}

TEST(Environment, ShowsADetailOnOneLine) {
  Environment machine;
  EXPECT_EQ(text_of_detail(machine, kPolicyDetail), "");
  machine.details[kPolicyDetail] = {
      {"frequency", "max"}, {"keep_awake", true}, {"reboot", {{"wait", "5min"}}}};
  EXPECT_EQ(text_of_detail(machine, kPolicyDetail),
            "frequency max, keep_awake true, reboot (wait 5min)");
}

}  // namespace
}  // namespace assay
