#include "features/conform/conform_case.h"
#include "features/conform/conform_options.h"

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "assay/cli/common_flags.h"
#include "assay/cli/conform_flags.h"
#include "assay/cli/conform_report.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/explain_arguments.h"
#include "assay/cli/quick_spec.h"
#include "assay/cli/verb.h"
#include "assay/record/conformance.h"
#include "assay/runs/run_overview.h"
#include "assay/spec/spec.h"

namespace assay::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

RunSummary summary_of(std::vector<Verdict> verdicts) {
  RunSummary summary;
  for (const auto verdict : verdicts) {
    summary.cases.push_back({.verdict = verdict});
  }
  return summary;
}

TEST(ExitCode, PutsAFailureFirstAndNothingAtAllApart) {
  EXPECT_EQ(exit_code_from_summary(summary_of({Verdict::kPass, Verdict::kFail})),
            ExitCode::kFindings);
  EXPECT_EQ(exit_code_from_summary(summary_of({Verdict::kPass, Verdict::kSkipped})), ExitCode::kOk);
  EXPECT_EQ(exit_code_from_summary(summary_of({Verdict::kSkipped})), ExitCode::kNothingMatched);
  EXPECT_EQ(exit_code_from_summary({}), ExitCode::kNothingMatched);
}

TEST(ExitCode, TellsWhatWasAskedAndHasNoAnswer) {
  auto summary = summary_of({Verdict::kPass, Verdict::kInconclusive});
  summary.cases.front().timing = Timing::kUnsteady;
  auto& open = summary.cases.back();
  for (const auto timing : {Timing::kNotMeasured, Timing::kSteady, Timing::kInconclusive}) {
    open.timing = timing;
    EXPECT_EQ(exit_code_from_summary(summary), ExitCode::kInconclusive)
        << "an answer that is missing does not come with the time";
  }
  open.verdict = Verdict::kPass;
  EXPECT_EQ(exit_code_from_summary(summary), ExitCode::kOk) << "a time alone is no finding";
  summary.cases.front().verdict = Verdict::kFail;
  EXPECT_EQ(exit_code_from_summary(summary), ExitCode::kFindings);
}

TEST(ExitCode, TellsAUsersMistakeFromWhatIsMissing) {
  EXPECT_EQ(exit_code_from_error(ErrorCode::kInvalidArgument), ExitCode::kUsage);
  EXPECT_EQ(exit_code_from_error(ErrorCode::kUnavailable), ExitCode::kUnavailable);
  EXPECT_EQ(exit_code_from_error(ErrorCode::kInternal), ExitCode::kInternal);
}

ConformReport conformance_of(std::vector<std::pair<ConformVerdict, KnownGap>> results) {
  ConformReport report;
  for (const auto& [verdict, known] : results) {
    report.results.push_back({.verdict = verdict, .known = known});
  }
  return report;
}

TEST(ExitCode, OfConformanceIsWhatTheListsSay) {
  const std::pair pass{ConformVerdict::kPass, KnownGap::kNone};
  const std::pair known{ConformVerdict::kCrashed, KnownGap::kKnownFailure};
  const std::pair fresh{ConformVerdict::kCrashed, KnownGap::kNewFailure};
  const std::pair healed{ConformVerdict::kPass, KnownGap::kUnexpectedPass};
  const std::pair not_run{ConformVerdict::kNotRun, KnownGap::kNone};
  EXPECT_EQ(exit_code_from_conformance(conformance_of({pass, known})), ExitCode::kOk);
  EXPECT_EQ(exit_code_from_conformance(conformance_of({pass, fresh})), ExitCode::kFindings);
  EXPECT_EQ(exit_code_from_conformance(conformance_of({healed})), ExitCode::kFindings);
  EXPECT_EQ(exit_code_from_conformance(conformance_of({not_run})), ExitCode::kNothingMatched);
  EXPECT_EQ(exit_code_from_conformance({}), ExitCode::kNothingMatched);
  auto stale = conformance_of({pass});
  stale.stale.push_back({.recipe = "r", .entry = "{}", .why = "all pass"});
  EXPECT_EQ(exit_code_from_conformance(stale), ExitCode::kFindings);
}

TEST(ConformOptions, ExpandTheirSettingsAsASpecDoes) {
  ConformOptions options;
  options.options = {"a=1,2", "b=1,2", "c=1,2"};
  EXPECT_EQ(spec_from_conform_options(options, {.origin = "assay conform", .folder = "."})->expand,
            Expand::kFull);
  options.expand = "pairwise";
  EXPECT_EQ(spec_from_conform_options(options, {.origin = "assay conform", .folder = "."})->expand,
            Expand::kPairwise);
}

TEST(ConformOptions, TellWhatIsToBeDrawn) {
  ConformOptions options;
  options.tier = "fuzz";
  options.seed = 7;
  options.count = 20;
  const auto request = listing_request(options.selection());
  EXPECT_EQ(request.at("tier"), "fuzz");
  EXPECT_EQ(request.at("seed"), 7);
  EXPECT_EQ(request.at("count"), 20);
  const auto resumed = Json(options).get<ConformOptions>();
  EXPECT_EQ(resumed.seed, 7U);
}

TEST(ConformOptions, HaveWhatAResumedRunIsToGoOnWith) {
  ConformOptions options;
  RunFlags flags;
  flags.only = "aten.conv";
  flags.libraries = {"executorch=/libmine.so"};
  flags.launch_timeout = "30s";
  flags.memory_limit_bytes = 5;
  keep_flags(flags, "/lists", options);
  const auto kept = Json(options).get<ConformOptions>();
  RunFlags resumed;
  std::string known;
  restore_flags(kept, resumed, known);
  EXPECT_EQ(known, "/lists");
  EXPECT_EQ(resumed.only, flags.only);
  EXPECT_EQ(resumed.libraries, flags.libraries);
  EXPECT_EQ(resumed.launch_timeout, flags.launch_timeout);
  EXPECT_EQ(resumed.memory_limit_bytes, flags.memory_limit_bytes);
  resumed.launch_timeout = "1min";
  restore_flags(kept, resumed, known);
  EXPECT_EQ(resumed.launch_timeout, "1min") << "what is given anew holds";
}

TEST(ConformOptions, RefuseAShardThatIsNone) {
  const std::vector<ConformCase> cases = {{.name = "a"}, {.name = "b"}, {.name = "c"}};
  ConformOptions options;
  EXPECT_EQ(options.share_of(cases)->size(), 3U);
  options.shard = "2/3";
  EXPECT_EQ(options.share_of(cases)->size(), 1U);
  for (const char* wrong : {"0/3", "4/3", "1", "a/3", "1/3x", "/"}) {
    options.shard = wrong;
    EXPECT_THAT(options.share_of(cases).error().message, HasSubstr("such as 1/4")) << wrong;
  }
}

TEST(ConformOptions, SurviveJsonAndMakeASpec) {
  ConformOptions options{.recipes = {"executorch/portable"}, .threads = {"1", "2"}};
  const auto read = Json(options).get<ConformOptions>();
  EXPECT_EQ(read.recipes, options.recipes);
  const auto spec = spec_from_conform_options(read, {.origin = "assay conform", .folder = "."});
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->options.at("threads"), (std::vector<Json>{1, 2}));
}

TEST(QuickSpec, OfFlagsIsAValidSpec) {
  QuickSpec quick{.model = "torchvision:mobilenet_v2",
                  .recipes = {"executorch/portable", "executorch/xnnpack-fp32"},
                  .options = {"xnnpack_weight_cache=true,false"},
                  .threads = {"1", "2"},
                  .input_shapes = {"1,3,192,192"},
                  .require = {"sqnr_db>=30"}};
  const auto document = quick.document({"timing", "evaluate"}).value();
  const auto spec = spec_from_json(document, {.origin = "flags", .folder = "."});
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->recipes.size(), 2U);
  EXPECT_EQ(spec->options.at("threads"), (std::vector<Json>{1, 2}));
  EXPECT_EQ(spec->options.at("xnnpack_weight_cache"), (std::vector<Json>{true, false}));
  EXPECT_EQ(spec->models.at(0).bindings.at(0).at(0).shape, (Shape{1, 3, 192, 192}));
  EXPECT_EQ(spec->require.at("sqnr_db"), ">=30");
}

TEST(QuickSpec, TakesAProgramWithoutRecipe) {
  const auto document = QuickSpec{.model = "net.pte"}.document({"timing"}).value();
  EXPECT_FALSE(document.contains("recipes"));
}

TEST(QuickSpec, NamesTheSpecForSeveralModels) {
  const auto document = QuickSpec{.model = "torchvision:a,torchvision:b"}.document({"timing"});
  ASSERT_FALSE(document);
  EXPECT_EQ(document.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(document.error().message,
              HasSubstr(R"("models": ["torchvision:a", "torchvision:b"])"));
}

TEST(QuickSpec, HoldsAProgramAgainstWhatItIsGiven) {
  const auto evaluation_of = [](const QuickSpec& quick) {
    return quick.document({"evaluate"}).value().value("evaluate", Json());
  };
  const QuickSpec given{.model = "net.onnx",
                        .inputs = "x.npz",
                        .expected = "y.npz",
                        .dimensions = {"batch=2"},
                        .has_parity = true};
  // The kinds are the spec's own default: those there are.
  EXPECT_EQ(evaluation_of(given), (Json{{"samples", 4}, {"parity", true}}));
  EXPECT_EQ(given.document({}).value().at("models").at(0), (Json{{"ref", "net.onnx"},
                                                                 {"inputs", "x.npz"},
                                                                 {"expected", "y.npz"},
                                                                 {"dimensions", {{"batch", 2}}}}));
  EXPECT_EQ(evaluation_of({.model = "net.onnx", .against = {"engine:onnxruntime"}}).at("against"),
            Json::array({"engine:onnxruntime"}));
  EXPECT_EQ(
      evaluation_of({.model = "net.py:make", .inputs = "x.npz", .expected = "y.npz"}).at("against"),
      Json::array({"float32", "qdq", "file"}));
  EXPECT_EQ(evaluation_of({.model = "net.bpte"}), (Json{{"samples", 4}}));
}

TEST(QuickSpec, HandsArgumentsAndOwnInputsOn) {
  QuickSpec quick{.model = "aten:add.Tensor", .args = R"({"sample": 3})", .inputs = "model"};
  const auto document = quick.document({"evaluate"}).value();
  const auto spec = spec_from_json(document, {.origin = "flags", .folder = "."});
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->models.at(0).model.args, Json({{"sample", 3}}));
  EXPECT_TRUE(spec->models.at(0).brings_inputs);
  quick.input_shapes = {"1,2"};
  EXPECT_THAT(quick.document({"evaluate"}).error().message,
              HasSubstr("--inputs and --input-shape"));
  quick = {.model = "m", .args = "{"};
  EXPECT_THAT(quick.document({}).error().message, HasSubstr("--args"));
}

TEST(QuickSpec, TakesATypeBehindAShape) {
  const auto inputs_of = [](std::vector<std::string> shapes) {
    const QuickSpec quick{.model = "net.py:make", .input_shapes = std::move(shapes)};
    return quick.document({}).value().at("models").at(0).at("inputs");
  };
  EXPECT_EQ(inputs_of({"2,5"}), (Json::parse("[[2, 5]]")));
  EXPECT_EQ(inputs_of({"2,5:int64"}), (Json::parse(R"([[{"shape": [2, 5], "dtype": "int64"}]])")));
  EXPECT_EQ(inputs_of({"2,5:int64", "1,3"}),
            (Json::parse(R"([[{"shape": [2, 5], "dtype": "int64"}, [1, 3]]])")));
  const QuickSpec wrong{.model = "m", .input_shapes = {"2,5:int46"}};
  EXPECT_THAT(wrong.document({}).error().message, HasSubstr("--input-shape 2,5:int46"));
}

TEST(QuickSpec, MakesAMatrixOfTheSizesOfDimensions) {
  const QuickSpec quick{.model = "net.onnx", .dimensions = {"batch=1,8", "time=4"}};
  const auto document = quick.document({"timing"}).value();
  ASSERT_EQ(document.at("models").size(), 2U);
  EXPECT_EQ(document.at("models").at(1).at("dimensions"), (Json{{"batch", 8}, {"time", 4}}));
  EXPECT_EQ(spec_from_json(document, {.origin = "flags", .folder = "."})->models.size(), 2U);
}

TEST(QuickSpec, LeavesADurationWithoutUnitToOneErrorInItsOwnWords) {
  const QuickSpec quick{.model = "net.onnx", .scenario = {"gap=20"}};
  const auto spec = spec_from_json(quick.document({"timing"}).value(), {.origin = "flags"});
  EXPECT_EQ(spec.error().message,
            "flags: scenario.gap[0]: '20' is not a duration; write a number and a unit (ns, us, "
            "ms, s, min, h, d), such as 20s");
}

TEST(Arguments, AreExplainedWhereTheyAreWrong) {
  CLI::App app("", "assay");
  std::vector<std::string> recipes;
  std::string model;
  auto* bench = app.add_subcommand("bench");
  bench->add_option("--recipe", recipes);
  bench->add_option("model", model)->required();
  const auto explanations_for = [&app](const std::string& line) {
    try {
      app.parse(line);
    } catch (const CLI::ParseError& error) {
      return explain_arguments(app, error);
    }
    return std::vector<std::string>{"the line was accepted"};
  };
  EXPECT_THAT(explanations_for("bench m --recipie x"),
              ElementsAre("unknown flag '--recipie'; did you mean '--recipe'?"));
  EXPECT_THAT(explanations_for("benhc x --recipe y"),
              ElementsAre("unknown verb 'benhc'; did you mean 'bench'?"));
  EXPECT_THAT(explanations_for("bench m --zzzzzz value"),
              ElementsAre("unknown flag '--zzzzzz'; `assay bench --help` describes the command"));
  EXPECT_THAT(
      explanations_for("--recipe x bench m"),
      ElementsAre("'--recipe' stands before the verb, and flags follow it: assay bench --recipe"));
  EXPECT_THAT(explanations_for("bench m n"),
              ElementsAre(AllOf(HasSubstr("unexpected argument 'n'; the command takes one model"),
                                HasSubstr("\"models\": [\"A\", \"B\"]"),
                                HasSubstr("; `assay bench --help` describes the command"))));
  EXPECT_THAT(explanations_for("bench -- -m.pte --recipe"),
              ElementsAre(HasSubstr("unexpected argument '--recipe' behind --, where nothing")));
  EXPECT_THAT(explanations_for("bench"),
              ElementsAre("model is required; `assay bench --help` describes the command"));
}

TEST(ToolchainFlags, RefuseAPlugInWhosePathWouldBeTwo) {
  CLI::App app("", "assay");
  ToolchainFlags flags;
  flags.declare_sources(app);
  std::string told;
  try {
    app.parse("--plugin fine.py --plugin my:plugin.py");
  } catch (const CLI::ParseError& error) {
    told = error.what();
  }
  EXPECT_THAT(told, AllOf(HasSubstr("--plugin"), HasSubstr("/my:plugin.py' has a colon")));
  app.parse("--plugin fine.py");
  EXPECT_THAT(flags.plugins, ElementsAre("fine.py"));
}

TEST(QuickSpec, SaysHowToWriteAMalformedFlag) {
  EXPECT_THAT(QuickSpec({.model = "m", .dimensions = {"batch"}}).document({}).error().message,
              HasSubstr("--dimension batch: write name=size"));
  EXPECT_THAT(QuickSpec({.model = "m", .input_shapes = {"1,3"}, .inputs = "x.npz"})
                  .document({})
                  .error()
                  .message,
              HasSubstr("exclude each other"));
  EXPECT_THAT(QuickSpec({.model = "m", .options = {"threads"}}).document({}).error().message,
              HasSubstr("name=value"));
  EXPECT_THAT(QuickSpec({.model = "m", .input_shapes = {"1,x"}}).document({}).error().message,
              HasSubstr("1,3,224,224"));
  EXPECT_THAT(QuickSpec({.model = "m", .require = {"sqnr_db"}}).document({}).error().message,
              HasSubstr("sqnr_db>=30"));
}

TEST(ListOfRuns, NamesCalibrationsByTheirProgramsAlone) {
  std::vector<RunOverview> runs;
  for (const std::string folder : {"Ab3dE6", "xY9zW2"}) {
    auto& listing = runs.emplace_back().listing;
    listing.run.id = folder;
    listing.run.purpose = "calibrate";
    listing.models = {"/tmp/assay-calibrate." + folder + "/null.fake.json"};
  }
  const auto table = table_from_overviews(runs, /*now_unix_ns=*/0, /*width=*/200);
  EXPECT_THAT(table, AllOf(HasSubstr("null.fake"), Not(HasSubstr("assay-calibrate"))));
}

TEST(Verbs, AreUniqueAndEachDeclaresItsFlags) {
  std::set<std::string> names;
  for (const auto& verb : all_verbs()) {
    CLI::App app;
    EXPECT_TRUE(static_cast<bool>(verb.declare(app))) << verb.name;
    EXPECT_TRUE(names.insert(verb.name).second) << verb.name;
  }
}

TEST(QuickSpecOptions, AreNotSplitInsideOfJson) {
  const QuickSpec quick{
      .model = "torchvision:mobilenet_v2",
      .recipes = {"executorch/portable"},
      .options = {R"(provider_options={"a":1,"b":"x,y"},{"a":2})", "threads=1,2"}};
  const auto options = quick.document({"timing"}).value().at("options");
  EXPECT_EQ(options.at("provider_options"), (Json::array({R"({"a":1,"b":"x,y"})", R"({"a":2})"})));
  EXPECT_EQ(options.at("threads"), (Json::array({1, 2})));
}

}  // namespace
}  // namespace assay::cli
