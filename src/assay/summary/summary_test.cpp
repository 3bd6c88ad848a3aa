#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "assay/record/unfinished.h"
#include "assay/store/result_store.h"
#include "assay/summary/program.h"
#include "assay/summary/summarize.h"
#include "assay/summary/timing.h"

namespace assay {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

/// A launch of two warm-up iterations and three steady ones around `level_ns`.
Launch timing_launch(int index, std::int64_t level_ns) {
  Launch launch{.id = "launch-" + std::to_string(index), .index = index};
  launch.load = LoadReport{.stages = {{"program", 100}, {"method", 900}},
                           .effective_options = {{"threads", 1}}};
  Measurement measurement{.first = {.bind_ns = 1, .execute_ns = 10 * level_ns, .fetch_ns = 1},
                          .warmup_iterations = 2,
                          .iterations = 3,
                          .stopped_by = "count"};
  measurement.samples.execute_ns = {5 * level_ns, 2 * level_ns, level_ns - 1, level_ns,
                                    level_ns + 10};
  measurement.samples.bind_ns.assign(5, 7);
  measurement.samples.fetch_ns.assign(5, 3);
  launch.measurement = measurement;
  return launch;
}

TEST(Timing, TakesTheMedianOfLaunchMediansWithoutWarmUp) {
  const auto summary =
      summarize_timing({timing_launch(0, 1000), timing_launch(1, 1020), timing_launch(2, 1010)});
  const auto& steady = summary.metrics.at("steady_ns");
  EXPECT_EQ(steady.value, 1010);
  EXPECT_EQ(steady.low, 1000);
  EXPECT_EQ(steady.high, 1020);
  EXPECT_EQ(steady.count, 3);
  EXPECT_DOUBLE_EQ(steady.confidence, 0.75);
  EXPECT_EQ(summary.metrics.at("first_ns").value, 10'100);
  EXPECT_EQ(summary.metrics.at("steady_floor_ns").value, 1009);
  EXPECT_EQ(summary.metrics.at("bind_ns").value, 7);
  EXPECT_EQ(summary.metrics.at("load_ns").value, 1000);
  EXPECT_EQ(summary.metrics.at("load_method_ns").value, 900);
  EXPECT_EQ(summary.timing, Timing::kSteady);
}

Launch told_launch(int index, TimesTold told, double number) {
  auto launch = timing_launch(index, 1000);
  launch.measurement->times = told;
  launch.measurement->metrics = {{.name = "p99", .unit = "ns", .value = number}};
  return launch;
}

TEST(Timing, HasTheNumbersThatTheProgramTellsOfItsLaunches) {
  const auto told = TimesTold::kSteady;
  const auto summary =
      summarize_timing({told_launch(0, told, 5), told_launch(1, told, 9), told_launch(2, told, 6)});
  const auto& p99 = summary.metrics.at("program:p99");
  EXPECT_EQ(p99.value, 6);
  EXPECT_EQ(p99.low, 5);
  EXPECT_EQ(p99.high, 9);
  EXPECT_EQ(p99.unit, "ns");
  EXPECT_TRUE(summary.metrics.contains("steady_ns"));
  EXPECT_FALSE(summary.metrics.contains("first_ns")) << "it warmed up by itself";
}

TEST(Timing, HasNoPhasesThatNoLaunchTells) {
  auto launch = timing_launch(0, 1000);
  launch.measurement->first = {.execute_ns = 5000};
  launch.measurement->samples.bind_ns.assign(5, 0);
  launch.measurement->samples.fetch_ns.assign(5, 0);
  const auto summary = summarize_timing({launch});
  EXPECT_FALSE(summary.metrics.contains("bind_ns")) << "it timed whole inferences itself";
  EXPECT_FALSE(summary.metrics.contains("fetch_ns"));
  EXPECT_TRUE(summary.metrics.contains("steady_ns"));
  EXPECT_TRUE(summarize_timing({launch, timing_launch(1, 1000)}).metrics.contains("bind_ns"));
}

TEST(Timing, IsNotMeasuredByNumbersOfTheLaunchAlone) {
  auto launch = told_launch(0, TimesTold::kNone, 5);
  launch.measurement->samples = {};
  const auto summary = summarize_timing({launch});
  EXPECT_EQ(summary.timing, Timing::kNotMeasured);
  EXPECT_EQ(summary.metrics.at("program:p99").value, 5);
  EXPECT_FALSE(summary.metrics.contains("steady_ns"));
  EXPECT_THAT(summary.notes, ElementsAre(HasSubstr("numbers of the whole launch")));
}

TEST(Timing, IsInconclusiveWhenLaunchesDisagreeOrAreTooFew) {
  const auto apart =
      summarize_timing({timing_launch(0, 1000), timing_launch(1, 1200), timing_launch(2, 1010)});
  EXPECT_EQ(apart.timing, Timing::kInconclusive);
  EXPECT_THAT(apart.notes,
              Contains(HasSubstr("3 launches leave their median open by 20 % (75 % interval)")));
  EXPECT_EQ(summarize_timing({timing_launch(0, 1000)}).timing, Timing::kInconclusive);
  EXPECT_EQ(summarize_timing({}).timing, Timing::kNotMeasured);
}

TEST(Timing, SaysWhenATimeBudgetEndedALaunch) {
  auto launches =
      std::vector{timing_launch(0, 1000), timing_launch(1, 1000), timing_launch(2, 1000)};
  launches[1].measurement->stopped_by = "time_budget";
  EXPECT_THAT(
      summarize_timing(launches).notes,
      ElementsAre(HasSubstr("1 of 3 launches ended at their time budget, the shortest after 3")));
}

TEST(Timing, LeavesOutALaunchThatDidNotComplete) {
  auto crashed = timing_launch(1, 9999);
  crashed.outcome = Outcome::kCrashed;
  EXPECT_EQ(summarize_timing({timing_launch(0, 1000), crashed}).metrics.at("steady_ns").count, 1);
}

TEST(Timing, IsInconclusiveWhereSamplesAreGone) {
  auto without = timing_launch(1, 1000);
  without.measurement->samples = {};
  auto cut = timing_launch(2, 1000);
  cut.measurement->samples.execute_ns.pop_back();
  for (const auto& gone : {without, cut}) {
    const auto some = summarize_timing(
        {timing_launch(0, 1000), gone, timing_launch(3, 1000), timing_launch(4, 1000)});
    EXPECT_EQ(some.timing, Timing::kInconclusive);
    EXPECT_EQ(some.metrics.at("steady_ns").count, 3);
    EXPECT_THAT(some.notes, Contains(HasSubstr("the samples of 1 of 4 launches are not")));
    EXPECT_EQ(summarize_timing({gone}).timing, Timing::kInconclusive);
  }
}

TEST(Timing, IsInconclusiveWhereTheClockIsTooCoarse) {
  std::vector<Launch> launches;
  for (int i = 0; i < 4; ++i) {
    launches.push_back(timing_launch(i, 1000));
    launches.back().measurement->samples.execute_ns.assign(5, 0);
  }
  const auto summary = summarize_timing(launches);
  EXPECT_EQ(summary.timing, Timing::kInconclusive);
  EXPECT_EQ(summary.metrics.at("steady_interval_ratio").value, 0);
  EXPECT_THAT(summary.notes, Contains(HasSubstr("took 0 s on the engine's clock")));
}

TEST(Program, CountsSharesAndBytesFromTheManifest) {
  Artifact artifact{.files = {{"p.pte", "program", 100, "aa"}, {"w.ptd", "data", 50, "bb"}}};
  artifact.manifest = {
      {"delegation", "partial"},
      {"peak_rss_bytes", 7},
      {"stages", {{{"name", "export"}, {"wall_ns", 2}}, {{"name", "lower"}, {"wall_ns", 3}}}},
      {"program",
       {{"nodes_delegated", 3},
        {"nodes_not_delegated", 1},
        {"delegates",
         {{{"backend", "X"}, {"count", 2}, {"processed_bytes", 10}, {"named_data_bytes", 20}}}},
        {"methods", {{{"name", "forward"}, {"planned_arena_bytes", {64, 32}}}}}}}};
  const auto summary = summarize_program(artifact);
  EXPECT_EQ(summary.delegation, Delegation::kPartial);
  EXPECT_EQ(summary.metrics.at("program_bytes").value, 150);
  EXPECT_EQ(summary.metrics.at("delegated_ratio").value, 0.75);
  EXPECT_EQ(summary.metrics.at("delegate_count").value, 2);
  EXPECT_EQ(summary.metrics.at("delegate_bytes").value, 30);
  EXPECT_EQ(summary.metrics.at("planned_arena_bytes").value, 96);
  EXPECT_EQ(summary.metrics.at("aot_ns").value, 5);
}

TEST(Memory, IsRelativeToTheStartOfTheProcess) {
  const MemoryReport memory{.stages = {{.name = "start", .pss_bytes = 5},
                                       {.name = "loaded", .pss_bytes = 25},
                                       {.name = "steady", .pss_bytes = 30, .peak_rss_bytes = 40}}};
  const auto metrics = summarize_memory(memory);
  EXPECT_EQ(metrics.at("load_pss_bytes").value, 20);
  EXPECT_EQ(metrics.at("peak_rss_bytes").value, 40);
}

/// A run of one model under two recipes in a store.
class StoredRun {
 public:
  std::unique_ptr<ResultStore> store = make_memory_store();
  Run run{.id = "run-1", .environment = "env-1"};

  StoredRun() {
    EXPECT_TRUE(store->add_environment({.id = "env-1"}));
    EXPECT_TRUE(store->add_run(run));
  }

  Case add_case(const std::string& recipe, Json require = Json::object(),
                const std::string& device = "local") {
    Case cell;
    cell.device = device;
    cell.model.ref = "torchvision:mobilenet_v2";
    cell.recipe = {.name = recipe, .is_preset = true};
    cell.engine_build = "executorch@1.5.1";
    cell.require = std::move(require);
    EXPECT_TRUE(store->add_case(run.id, cell));
    return cell;
  }

  void add_attempt(const Case& cell, Pass pass, const std::vector<Launch>& launches,
                   Outcome outcome = Outcome::kCompleted, const std::string& suffix = {}) {
    const Subject subject{.engine_build = cell.engine_build};
    EXPECT_TRUE(store->add_subject(subject));
    Attempt attempt{.id = case_key(cell) + (cell.device == "local" ? "" : cell.device) +
                          std::string(name_of(pass)) + suffix,
                    .run = run.id,
                    .case_key = case_key(cell),
                    .subject = subject_key(subject),
                    .device = cell.device,
                    .pass = pass,
                    .is_finished = true,
                    .outcome = outcome};
    EXPECT_TRUE(store->put_attempt(attempt));
    for (auto launch : launches) {
      launch.id = attempt.id + launch.id;
      launch.attempt = attempt.id;
      EXPECT_TRUE(store->add_launch(launch));
    }
  }

  RunSummary summary(const std::string& baseline = {}) {
    return summarize_run(*store, run, {.baseline = baseline}).value();
  }
};

std::vector<Launch> three_launches(std::int64_t level_ns) {
  return {timing_launch(0, level_ns), timing_launch(1, level_ns), timing_launch(2, level_ns)};
}

TEST(SummarizeRun, TellsHowMuchFasterThanTheBaseline) {
  StoredRun stored;
  stored.add_attempt(stored.add_case("executorch/portable"), Pass::kTiming, three_launches(8000));
  stored.add_attempt(stored.add_case("executorch/xnnpack-fp32"), Pass::kTiming,
                     three_launches(1000));
  const auto summary = stored.summary("executorch/portable");
  ASSERT_EQ(summary.cases.size(), 2U);
  EXPECT_DOUBLE_EQ(summary.cases[1].metrics.at("speedup_ratio").value, 8.0);
  EXPECT_EQ(summary.cases[1].verdict, Verdict::kPass);
}

TEST(SummarizeRun, MarksTimesOfAnEmulatorAndComparesThemWithNone) {
  StoredRun stored;
  stored.add_attempt(stored.add_case("executorch/portable"), Pass::kTiming, three_launches(8000));
  auto launches = three_launches(1000);
  for (auto& launch : launches) {
    launch.load = LoadReport{.emulator = "an emulator of the NPU"};
  }
  const auto cell = stored.add_case("executorch/npu", {{"steady_ns", "<=1s"}});
  stored.add_attempt(cell, Pass::kTiming, launches);
  const auto summary = stored.summary("executorch/portable");
  const auto& emulated = summary.cases.at(1);
  EXPECT_EQ(emulated.timing, Timing::kEmulated);
  EXPECT_EQ(emulated.verdict, Verdict::kInconclusive);
  EXPECT_THAT(emulated.notes, Contains(HasSubstr("an emulator of the NPU executes this")));
  EXPECT_TRUE(emulated.metrics.contains("steady_ns"));
  EXPECT_FALSE(emulated.metrics.contains("speedup_ratio"));
}

TEST(SummarizeRun, TellsDevicesOfOneClassApart) {
  StoredRun stored;
  int level_ns = 1000;
  for (const auto* device : {"a", "b"}) {
    EXPECT_TRUE(
        stored.store->add_run_device(stored.run.id, device, {.id = "env-1", .cpu_model = device}));
    for (const auto* recipe : {"executorch/portable", "executorch/xnnpack-fp32"}) {
      stored.add_attempt(stored.add_case(recipe, Json::object(), device), Pass::kTiming,
                         three_launches(level_ns));
      level_ns *= 2;
    }
  }
  const auto summary = stored.summary("executorch/portable");
  ASSERT_EQ(summary.cases.size(), 4U);
  EXPECT_EQ(summary.devices.at("b").cpu_model, "b");
  EXPECT_EQ(summary.cases[1].case_key, summary.cases[3].case_key);
  EXPECT_EQ(summary.cases[1].metrics.at("steady_ns").value, 2000);
  EXPECT_EQ(summary.cases[3].metrics.at("steady_ns").value, 8000);
  EXPECT_EQ(summary.cases[3].device, "b");
  EXPECT_TRUE(summary.cases[3].label.ends_with(" on b")) << summary.cases[3].label;
  EXPECT_EQ(summary.cases[3].metrics.at("speedup_ratio").value, 0.5) << "over its own device's";
}

TEST(SummarizeRun, TakesATimingPassWithoutLaunchesForNoPass) {
  StoredRun stored;
  stored.add_attempt(stored.add_case("executorch/portable"), Pass::kTiming, {});
  const auto row = stored.summary().cases.at(0);
  EXPECT_EQ(row.timing, Timing::kInconclusive);
  EXPECT_EQ(row.verdict, Verdict::kInconclusive);
  EXPECT_THAT(row.notes, Contains(HasSubstr("launches of the timing pass are not in the store")));
}

TEST(SummarizeRun, SurvivesEffectiveOptionsThatAreNoObject) {
  StoredRun stored;
  auto launches = three_launches(1000);
  for (auto& launch : launches) {
    launch.load->effective_options = Json::array();
  }
  stored.add_attempt(stored.add_case("executorch/portable"), Pass::kTiming, launches);
  EXPECT_EQ(stored.summary().cases.at(0).timing, Timing::kSteady);
}

TEST(SummarizeRun, BreaksAProfileDownAndKeepsADelegateThatTellsNoOperators) {
  StoredRun stored;
  Launch launch{.id = "profiled"};
  launch.profile = ProfileReport{.iterations = 1,
                                 .events = {{"forward", "method", -1, 1, 1000, 1000, 1000},
                                            {"OpaqueBackend", "delegate", 0, 1, 700, 700, 700},
                                            {"add.out", "operator", 1, 1, 200, 200, 200}},
                                 .method_median_ns = 1000};
  stored.add_attempt(stored.add_case("executorch/npu"), Pass::kProfile, {launch});
  const auto summary = stored.summary();
  ASSERT_TRUE(summary.cases.at(0).breakdown);
  const auto& parts = summary.cases[0].breakdown->parts;
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0].name, "OpaqueBackend");
  EXPECT_DOUBLE_EQ(parts[0].share_ratio, 0.7);
  EXPECT_EQ(parts[2].name, "outside any operator");
}

TEST(SummarizeRun, KeepsTwoBuildsOfOneCaseApart) {
  StoredRun stored;
  auto cell = stored.add_case("executorch/portable");
  stored.add_attempt(cell, Pass::kTiming, three_launches(1000));
  cell.engine_build = "executorch@mine";
  ASSERT_TRUE(stored.store->add_case(stored.run.id, cell));
  stored.add_attempt(cell, Pass::kTiming, three_launches(2000), Outcome::kCompleted, "mine");
  const auto summary = stored.summary();
  ASSERT_EQ(summary.cases.size(), 2U);
  EXPECT_EQ(summary.cases[0].metrics.at("steady_ns").value, 1000);
  EXPECT_EQ(summary.cases[1].metrics.at("steady_ns").value, 2000);
  EXPECT_NE(summary.cases[0].subject, summary.cases[1].subject);
}

TEST(SummarizeRun, GivesABuildThatHasNotRunNothingOfTheOther) {
  StoredRun stored;
  auto cell = stored.add_case("executorch/portable");
  stored.add_attempt(cell, Pass::kTiming, three_launches(1000));
  cell.engine_build = "executorch@mine";
  ASSERT_TRUE(stored.store->add_case(stored.run.id, cell));
  const auto summary = stored.summary();
  ASSERT_EQ(summary.cases.size(), 2U);
  EXPECT_EQ(summary.cases[1].outcome, Outcome::kSkipped);
  EXPECT_EQ(summary.cases[1].timing, Timing::kNotMeasured);
  EXPECT_TRUE(summary.cases[1].subject.empty());
  EXPECT_FALSE(summary.cases[1].metrics.contains("steady_ns"));
}

TEST(SummarizeRun, HoldsABuildAgainstTheBaselineOnTheSameBuild) {
  StoredRun stored;
  for (const auto& [build, level_ns] :
       {std::pair("executorch@1.5.1", 1000), std::pair("executorch@mine", 2000)}) {
    for (const auto* recipe : {"executorch/portable", "executorch/xnnpack-fp32"}) {
      auto cell = stored.add_case(recipe);
      cell.engine_build = build;
      ASSERT_TRUE(stored.store->add_case(stored.run.id, cell));
      const bool is_baseline = recipe == std::string("executorch/portable");
      stored.add_attempt(cell, Pass::kTiming, three_launches(is_baseline ? 8 * level_ns : level_ns),
                         Outcome::kCompleted, build);
    }
  }
  const auto summary = stored.summary("executorch/portable");
  for (const auto& cell : summary.cases) {
    const bool is_baseline = cell.recipe == "executorch/portable";
    EXPECT_DOUBLE_EQ(cell.metrics.at("speedup_ratio").value, is_baseline ? 1.0 : 8.0);
  }
}

TEST(SummarizeRun, JoinsTheLaunchesOfAComparisonToPairs) {
  StoredRun stored;
  ASSERT_TRUE(stored.store->put_comparison({.id = "c", .run = stored.run.id}));
  std::vector<Launch> launches = {timing_launch(0, 1000), timing_launch(1, 2000)};
  launches[0].place = PairPlace{.comparison = "c", .side = Side::kA};
  launches[1].place = PairPlace{.comparison = "c", .side = Side::kB};
  stored.add_attempt(stored.add_case("executorch/portable"), Pass::kTiming, launches);
  const auto summary = stored.summary();
  ASSERT_EQ(summary.comparisons.size(), 1U);
  ASSERT_EQ(summary.comparisons[0].pairs.size(), 1U);
  EXPECT_EQ(summary.comparisons[0].pairs[0].a, 999);
  EXPECT_EQ(summary.comparisons[0].pairs[0].b, 1999);
  EXPECT_EQ(summary.cases[0].launches.size(), 2U);
}

TEST(SummarizeRun, ShowsOfEachLaunchItsWarmUpAndWhatDisturbedIt) {
  StoredRun stored;
  auto launches = three_launches(1000);
  auto& detecting = *launches[1].measurement;
  detecting.detects_warmup = true;
  detecting.warmup_iterations = 0;
  detecting.iterations = 60;
  detecting.samples = {.bind_ns = std::vector<std::int64_t>(60, 7),
                       .execute_ns = std::vector<std::int64_t>(60, 1000),
                       .fetch_ns = std::vector<std::int64_t>(60, 3)};
  std::ranges::fill_n(detecting.samples.execute_ns.begin(), 7, 3000);
  detecting.major_faults = 1;
  stored.add_attempt(stored.add_case("executorch/portable"), Pass::kTiming, launches);
  const auto summary = stored.summary();
  const auto& series = summary.cases[0].launches;
  ASSERT_EQ(series.size(), 3U);
  EXPECT_EQ(series[0].warmup_iterations, 2);
  EXPECT_EQ(series[0].warmup, WarmupFinding::kGiven);
  EXPECT_THAT(series[0].disturbances, testing::IsEmpty());
  EXPECT_EQ(series[1].warmup_iterations, 5);
  EXPECT_EQ(series[1].warmup, WarmupFinding::kFound);
  EXPECT_EQ(series[1].median_ns, 1000);
  ASSERT_EQ(series[1].disturbances.size(), 1U);
  EXPECT_EQ(series[1].disturbances[0].flag, "major_faults");
}

TEST(SummarizeRun, TakesTheOutcomeOfThePassThatFailed) {
  StoredRun stored;
  const auto cell = stored.add_case("executorch/portable");
  stored.add_attempt(cell, Pass::kTiming, three_launches(1000));
  Launch crashed{.id = "c", .outcome = Outcome::kCrashed};
  crashed.end.last_words = "stack smashed";
  stored.add_attempt(cell, Pass::kMemory, {crashed}, Outcome::kCrashed);
  const auto summary = stored.summary();
  EXPECT_EQ(summary.cases[0].outcome, Outcome::kCrashed);
  EXPECT_EQ(summary.cases[0].last_words, "stack smashed");
  EXPECT_EQ(summary.cases[0].verdict, Verdict::kFail);
  EXPECT_TRUE(summary.cases[0].metrics.contains("steady_ns"));
}

TEST(SummarizeRun, FailsACaseWhoseGateBroke) {
  StoredRun stored;
  stored.add_attempt(stored.add_case("executorch/portable", {{"steady_ns", "<=500ns"}}),
                     Pass::kTiming, three_launches(5000));
  const auto summary = stored.summary();
  ASSERT_EQ(summary.cases[0].gates.size(), 1U);
  EXPECT_FALSE(summary.cases[0].gates[0].is_met);
  EXPECT_EQ(summary.cases[0].verdict, Verdict::kFail);
}

TEST(SummarizeRun, ShowsTheWorstOutputAgainstEachReference) {
  StoredRun stored;
  const auto cell = stored.add_case("executorch/xnnpack-int8");
  stored.add_attempt(cell, Pass::kEvaluate, {});
  AccuracyTable table{.against = "float32", .accuracy = Accuracy::kPass};
  table.outputs = {{"a", {{"sqnr_db", make_metric("sqnr_db", 30)}}},
                   {"b", {{"sqnr_db", make_metric("sqnr_db", 12)}}}};
  const auto attempt = case_key(cell) + "evaluate";
  ASSERT_TRUE(stored.store->add_attachment(
      {.owner = attempt, .kind = "accuracy_table", .content = Json(table).dump()}));
  table.against = "qdq";
  table.accuracy = Accuracy::kFailNumeric;
  ASSERT_TRUE(stored.store->add_attachment(
      {.owner = attempt, .kind = "accuracy_table", .content = Json(table).dump()}));
  const auto summary = stored.summary();
  EXPECT_EQ(summary.cases[0].metrics.at("sqnr_db").value, 12);
  EXPECT_EQ(summary.cases[0].metrics.at("qdq.sqnr_db").value, 12);
  EXPECT_EQ(summary.cases[0].accuracy, Accuracy::kFailNumeric);
}

TEST(SummarizeRun, LetsNeitherInfinityNorNanHideAWorseOutput) {
  StoredRun stored;
  const auto cell = stored.add_case("executorch/xnnpack-int8");
  stored.add_attempt(cell, Pass::kEvaluate, {});
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  AccuracyTable table{.against = "float32"};
  table.outputs = {{"a", {{"sqnr_db", make_metric("sqnr_db", kInfinity)}}},
                   {"b", {{"sqnr_db", make_metric("sqnr_db", 13)}}}};
  table.outputs[0].metrics["max_abs_error"] = make_metric("max_abs_error", std::nan(""));
  table.outputs[1].metrics["max_abs_error"] = make_metric("max_abs_error", 1);
  ASSERT_TRUE(stored.store->add_attachment({.owner = case_key(cell) + "evaluate",
                                            .kind = "accuracy_table",
                                            .content = Json(table).dump()}));
  const auto summary = stored.summary();
  EXPECT_EQ(summary.cases[0].metrics.at("sqnr_db").value, 13);
  EXPECT_EQ(summary.cases[0].metrics.at("max_abs_error").special, "nan");
}

TEST(SummarizeRun, TakesTheLastWordOfAnEvaluationThatWasDoneAgain) {
  StoredRun stored;
  const auto cell = stored.add_case("executorch/portable");
  stored.add_attempt(cell, Pass::kEvaluate, {});
  const auto attempt = case_key(cell) + std::string(name_of(Pass::kEvaluate));
  for (const auto accuracy : {Accuracy::kFailNumeric, Accuracy::kPass}) {
    const AccuracyTable table{.against = "float32", .accuracy = accuracy};
    ASSERT_TRUE(stored.store->add_attachment(
        {.owner = attempt, .kind = "accuracy_table", .content = Json(table).dump()}));
  }
  const auto summary = stored.summary();
  ASSERT_EQ(summary.cases[0].accuracy_tables.size(), 1U);
  EXPECT_EQ(summary.cases[0].accuracy, Accuracy::kPass);
}

TEST(SummarizeRun, JudgesACaseByWhatWasAskedForAndNotByHowSureItsTimeIs) {
  StoredRun stored;
  stored.add_attempt(stored.add_case("executorch/portable"), Pass::kTiming,
                     {timing_launch(0, 1000), timing_launch(1, 1200), timing_launch(2, 1010)});
  auto zero = three_launches(1000);
  for (auto& launch : zero) {
    launch.measurement->samples.execute_ns.assign(launch.measurement->samples.execute_ns.size(), 0);
  }
  stored.add_attempt(stored.add_case("executorch/xnnpack-fp32"), Pass::kTiming, zero);
  const auto cases = stored.summary().cases;
  EXPECT_EQ(cases.at(0).timing, Timing::kInconclusive);
  EXPECT_EQ(cases.at(0).verdict, Verdict::kPass) << "it ran, and nothing else was asked for";
  EXPECT_NEAR(cases.at(0).metrics.at("steady_uncertainty_ratio").value, 190.0 / 1010, 1e-9);
  EXPECT_EQ(cases.at(1).verdict, Verdict::kInconclusive)
      << "a time was asked for, and none is there";
}

TEST(SummarizeRun, CallsACaseUnfinishedAndSaysHowToGoOn) {
  StoredRun stored;
  const auto cell = stored.add_case("executorch/portable");
  const Subject subject{.engine_build = cell.engine_build};
  ASSERT_TRUE(stored.store->add_subject(subject));
  ASSERT_TRUE(stored.store->put_attempt({.id = "a",
                                         .run = stored.run.id,
                                         .case_key = case_key(cell),
                                         .subject = subject_key(subject)}));
  const auto summary = stored.summary();
  EXPECT_TRUE(is_unfinished(summary.cases[0]));
  EXPECT_EQ(summary.cases[0].verdict, Verdict::kInconclusive);
  EXPECT_THAT(summary.cases[0].text, HasSubstr("--resume"));
}

TEST(SummarizeRun, LetsAnUnfinishedCaseBreakNoBoundOfWhatIsNotMeasured) {
  StoredRun stored;
  const auto cell = stored.add_case("executorch/portable",
                                    {{"peak_rss_bytes", "<=1MB"}, {"steady_ns", "<=500ns"}});
  stored.add_attempt(cell, Pass::kTiming, three_launches(1000));
  const Subject subject{.engine_build = cell.engine_build};
  ASSERT_TRUE(stored.store->put_attempt({.id = "open",
                                         .run = stored.run.id,
                                         .case_key = case_key(cell),
                                         .subject = subject_key(subject),
                                         .pass = Pass::kMemory}));
  EXPECT_EQ(stored.summary().cases[0].verdict, Verdict::kFail) << "the time is too long already";
  StoredRun only_open;
  const auto other = only_open.add_case("executorch/portable", {{"peak_rss_bytes", "<=1MB"}});
  ASSERT_TRUE(only_open.store->add_subject(subject));
  ASSERT_TRUE(only_open.store->put_attempt({.id = "open",
                                            .run = only_open.run.id,
                                            .case_key = case_key(other),
                                            .subject = subject_key(subject),
                                            .pass = Pass::kMemory}));
  const auto row = only_open.summary().cases[0];
  EXPECT_EQ(row.verdict, Verdict::kInconclusive);
  EXPECT_TRUE(row.gates.at(0).is_undecided);
}

TEST(SummarizeRun, CountsAnAttemptWithAnEndBeforeALaterOneWithout) {
  StoredRun stored;
  const auto cell = stored.add_case("executorch/portable");
  stored.add_attempt(cell, Pass::kTiming, three_launches(1000));
  const Subject subject{.engine_build = cell.engine_build};
  ASSERT_TRUE(stored.store->put_attempt({.id = "of another process",
                                         .run = stored.run.id,
                                         .case_key = case_key(cell),
                                         .subject = subject_key(subject)}));
  EXPECT_EQ(stored.summary().cases[0].verdict, Verdict::kPass);
}

TEST(SummarizeRun, KeepsTheTimeOfACaseThatAnotherPassRefused) {
  StoredRun stored;
  stored.add_attempt(stored.add_case("executorch/portable"), Pass::kTiming, three_launches(8000));
  const auto cell = stored.add_case("executorch/xnnpack-fp32");
  stored.add_attempt(cell, Pass::kTiming, three_launches(1000));
  stored.add_attempt(cell, Pass::kProfile, {}, Outcome::kUnsupported);
  const auto row = stored.summary("executorch/portable").cases.at(1);
  EXPECT_EQ(row.outcome, Outcome::kUnsupported);
  EXPECT_EQ(row.verdict, Verdict::kSkipped);
  EXPECT_EQ(row.metrics.at("speedup_ratio").value, 8);
}

TEST(SummarizeRun, ChecksGatesOfSpeedUps) {
  StoredRun stored;
  stored.add_attempt(stored.add_case("executorch/portable"), Pass::kTiming, three_launches(8000));
  for (const auto& [bound, verdict] :
       {std::pair{">=2", Verdict::kPass}, std::pair{">=10", Verdict::kFail}}) {
    const auto cell =
        stored.add_case(std::string("executorch/") + bound, {{"speedup_ratio", bound}});
    stored.add_attempt(cell, Pass::kTiming, three_launches(1000));
    EXPECT_EQ(stored.summary("executorch/portable").cases.back().verdict, verdict) << bound;
  }
}

TEST(SummarizeRun, HasNoSpeedUpOverOrOfNoTime) {
  StoredRun stored;
  auto at_once = three_launches(1000);
  for (auto& launch : at_once) {
    launch.measurement->samples.execute_ns.assign(5, 0);
  }
  stored.add_attempt(stored.add_case("none"), Pass::kTiming, at_once);
  stored.add_attempt(stored.add_case("some"), Pass::kTiming, three_launches(1000));
  for (const auto* baseline : {"none", "some"}) {
    const auto summary = stored.summary(baseline);
    EXPECT_FALSE(summary.cases[0].metrics.contains("speedup_ratio")) << baseline;
    EXPECT_EQ(summary.cases[1].metrics.contains("speedup_ratio"), baseline == std::string("some"));
  }
}

TEST(SummarizeRun, ComparesEachSizeOfADimensionWithItself) {
  StoredRun stored;
  for (const auto& [batch, level_ns] : {std::pair{1, 1000}, std::pair{64, 17'000}}) {
    Case cell;
    cell.model = {.ref = "net.onnx", .dimensions = {{"batch", batch}}};
    cell.recipe = {.name = std::string(kProgramRecipe), .is_preset = true};
    cell.engine_build = "openvino@1";
    ASSERT_TRUE(stored.store->add_case(stored.run.id, cell));
    stored.add_attempt(cell, Pass::kTiming, three_launches(level_ns));
  }
  const auto summary = stored.summary(std::string(kProgramRecipe));
  ASSERT_EQ(summary.cases.size(), 2U);
  EXPECT_EQ(summary.cases[0].shapes, "batch=1");
  EXPECT_EQ(summary.cases[1].shapes, "batch=64");
  EXPECT_EQ(summary.cases[1].metrics.at("speedup_ratio").value, 1);
}

}  // namespace
}  // namespace assay
