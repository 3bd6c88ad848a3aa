// Contract of every store, run on each of them.
#include <cmath>
#include <cstdint>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/base/uuid.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/launch.h"
#include "assay/record/metric.h"
#include "assay/store/result_store.h"
#include "assay/store/testing/sample_records.h"
#include "assay/store/testing/store_fixture.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class StoreContract : public EveryStore {};

INSTANTIATE_TEST_SUITE_P(Stores, StoreContract, every_store(), name_of_store);

TEST_P(StoreContract, GivesBackARunAsItWasAdded) {
  const auto records = add_sample_run(store());
  const auto run = store().get_run(records.run.id);
  ASSERT_TRUE(run.has_value()) << run.error().message;
  EXPECT_EQ(json_of(*run), json_of(records.run));
  EXPECT_EQ(run->seed, std::numeric_limits<std::uint64_t>::max());
}

TEST_P(StoreContract, GivesBackEveryOtherRecordAsItWasAdded) {
  const auto records = add_sample_run(store());
  EXPECT_EQ(json_of(store().environment_of_run(records.run.id).value()),
            json_of(records.environment));
  EXPECT_EQ(json_of(store().get_subject(records.attempt.subject).value()),
            json_of(records.subject));
  EXPECT_EQ(json_of(store().get_artifact(records.artifact.id()).value()),
            json_of(records.artifact));
  EXPECT_EQ(json_of(store().get_reference(records.reference.id()).value()),
            json_of(records.reference));
  EXPECT_EQ(json_of(store().cases_of_run(records.run.id).value()),
            json_of(std::vector{records.cell}));
  EXPECT_EQ(json_of(store().attempts_of_run(records.run.id).value()),
            json_of(std::vector{records.attempt}));
}

TEST_P(StoreContract, GivesBackALaunchWithItsSamplesBitByBit) {
  const auto records = add_sample_run(store());
  const auto launches = store().launches_of_attempt(records.attempt.id);
  ASSERT_TRUE(launches.has_value()) << launches.error().message;
  ASSERT_THAT(*launches, SizeIs(1));
  EXPECT_EQ(json_of(launches->front()), json_of(records.launch));
  const auto& samples = launches->front().measurement->samples;
  EXPECT_EQ(samples.bind_ns, records.launch.measurement->samples.bind_ns);
  EXPECT_EQ(samples.execute_ns, records.launch.measurement->samples.execute_ns);
  EXPECT_EQ(samples.fetch_ns, records.launch.measurement->samples.fetch_ns);
  EXPECT_EQ(launches->front().measurement->first.execute_ns, 123'456'789);
}

TEST_P(StoreContract, KeepsExtremeSamplesAndColumnsThatAreShorterThanTheWarmUp) {
  const auto records = add_sample_run(store());
  auto launch = make_launch(records.attempt.id, 1);
  using Limits = std::numeric_limits<std::int64_t>;
  launch.measurement->warmup_iterations = 10;
  launch.measurement->samples = {
      .bind_ns = {}, .execute_ns = {Limits::min(), -1, 0, 1, Limits::max()}, .fetch_ns = {7}};
  ASSERT_TRUE(store().add_launch(launch).has_value());
  const auto back = store().launches_of_attempt(records.attempt.id).value().at(1);
  EXPECT_THAT(back.measurement->samples.execute_ns,
              ElementsAre(Limits::min(), -1, 0, 1, Limits::max()));
  EXPECT_THAT(back.measurement->samples.bind_ns, SizeIs(0));
  EXPECT_THAT(back.measurement->samples.fetch_ns, ElementsAre(7));
}

TEST_P(StoreContract, KeepsTheLaunchOfAProcessThatDiedWithAnyLastWords) {
  const auto records = add_sample_run(store());
  Launch dead{.id = make_id(), .attempt = records.attempt.id, .index = 1};
  dead.outcome = Outcome::kCrashed;
  dead.stage = Stage::kSteady;
  dead.reason_code = "SIGSEGV";
  dead.text = "caf\xe9";
  dead.end = {.signal = 11, .signal_name = "SIGSEGV", .last_words = std::string("a\xff\0b", 4)};
  ASSERT_TRUE(store().add_launch(dead).has_value());
  const auto back = store().launches_of_attempt(records.attempt.id).value().at(1);
  EXPECT_EQ(back.outcome, Outcome::kCrashed);
  EXPECT_EQ(back.stage, Stage::kSteady);
  EXPECT_EQ(back.text, "caf\xef\xbf\xbd");
  EXPECT_EQ(back.end.last_words, std::string("a\xef\xbf\xbd\0b", 6));
  EXPECT_FALSE(back.load || back.measurement || back.memory || back.profile || back.traces);
}

TEST_P(StoreContract, OrdersLaunchesByIndexAndAttemptsByMaking) {
  auto records = add_sample_run(store());
  for (const int index : {3, 1, 2}) {
    ASSERT_TRUE(store().add_launch(make_launch(records.attempt.id, index)).has_value());
  }
  std::vector<int> indices;
  const auto launches = store().launches_of_attempt(records.attempt.id).value();
  for (const auto& launch : launches) {
    indices.push_back(launch.index);
  }
  EXPECT_THAT(indices, ElementsAre(0, 1, 2, 3));
  Attempt later = records.attempt;
  later.id = "0-sorts-first";
  later.pass = Pass::kMemory;
  ASSERT_TRUE(store().put_attempt(later).has_value());
  ASSERT_TRUE(store().put_attempt(records.attempt).has_value());
  const auto attempts = store().attempts_of_run(records.run.id).value();
  ASSERT_THAT(attempts, SizeIs(2));
  EXPECT_EQ(attempts[1].id, later.id);
}

TEST_P(StoreContract, ReplacesAnAttemptWithItsId) {
  auto records = add_sample_run(store());
  auto attempt = records.attempt;
  attempt.is_finished = true;
  attempt.outcome = Outcome::kTimedOut;
  attempt.stage = Stage::kSteady;
  attempt.text = "after 20 s";
  attempt.lease_until_unix_ns = 0;
  ASSERT_TRUE(store().put_attempt(attempt).has_value());
  EXPECT_EQ(json_of(store().attempts_of_run(records.run.id).value()),
            json_of(std::vector{attempt}));
  EXPECT_THAT(store().launches_of_attempt(attempt.id).value(), SizeIs(1));
}

TEST_P(StoreContract, KeepsTwoBuildsOfOneCaseApart) {
  const auto records = add_sample_run(store());
  auto other = records.cell;
  other.engine_build = "executorch@mine";
  ASSERT_EQ(case_key(other), case_key(records.cell));
  ASSERT_TRUE(store().add_case(records.run.id, other).has_value());
  ASSERT_TRUE(store().add_case(records.run.id, other).has_value());
  EXPECT_EQ(json_of(store().cases_of_run(records.run.id).value()),
            json_of(std::vector{records.cell, other}));
}

TEST_P(StoreContract, KeepsAComparisonWithThePlacesOfItsLaunches) {
  const auto records = add_sample_run(store());
  Comparison comparison{.id = make_id(), .run = records.run.id, .a_case = "a", .b_case = "b"};
  ASSERT_TRUE(store().put_comparison(comparison));
  auto launch = make_launch(records.attempt.id, 1);
  launch.place = {.comparison = comparison.id,
                  .block = 2,
                  .pair = 5,
                  .side = Side::kCanary,
                  .cpus = {0, 3},
                  .phase = PairPhase::kConfirmation,
                  .pairing = Pairing::kDuet};
  ASSERT_TRUE(store().add_launch(launch));
  comparison.verdict = ComparisonVerdict::kSlower;
  comparison.metrics = {{.metric = "floor_ns", .pairs = 10, .ratio = 0.02, .low = 0.01}};
  ASSERT_TRUE(store().put_comparison(comparison));

  EXPECT_EQ(json_of(store().comparisons_of_run(records.run.id).value()),
            json_of(std::vector{comparison}));
  const auto back = store().launches_of_attempt(records.attempt.id).value();
  EXPECT_FALSE(back.at(0).place);
  EXPECT_EQ(Json(*back.at(1).place), Json(*launch.place));
}

TEST_P(StoreContract, CarriesNanAndInfinityOfMetrics) {
  const auto records = add_sample_run(store());
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<MetricRow> rows;
  for (const double value : {1.0 / 3, std::nan(""), infinity, -infinity}) {
    const auto scope = "output:" + std::to_string(rows.size());
    rows.push_back({records.attempt.id, "", make_metric("sqnr_db", value, scope)});
  }
  // A caller that forgot make_metric.
  rows.push_back({records.attempt.id, records.launch.id, {.name = "x", .value = std::nan("")}});
  ASSERT_TRUE(store().add_metrics(rows).has_value());
  const auto back = store().metrics_of_attempt(records.attempt.id).value();
  ASSERT_THAT(back, SizeIs(5));
  EXPECT_EQ(double_from_metric(back[0].metric), 1.0 / 3);
  EXPECT_TRUE(std::isnan(double_from_metric(back[1].metric)));
  EXPECT_EQ(double_from_metric(back[2].metric), infinity);
  EXPECT_EQ(double_from_metric(back[3].metric), -infinity);
  EXPECT_EQ(back[4].metric.special, "nan");
  EXPECT_EQ(back[4].launch, records.launch.id);
  EXPECT_EQ(back[1].metric.scope, "output:1");
}

TEST_P(StoreContract, ReplacesAMetricThatIsDerivedAgain) {
  const auto records = add_sample_run(store());
  for (const double value : {5.0, 6.0}) {
    const std::vector<MetricRow> rows = {{records.attempt.id, "", make_metric("steady_ns", value)}};
    ASSERT_TRUE(store().add_metrics(rows).has_value());
  }
  const auto back = store().metrics_of_attempt(records.attempt.id).value();
  ASSERT_THAT(back, SizeIs(1));
  EXPECT_EQ(back[0].metric.value, 6.0);
}

TEST_P(StoreContract, KeepsAttachmentsOfAnyBytes) {
  std::string binary;
  for (int i = 0; i < 1000; ++i) {
    binary.push_back(static_cast<char>(i * 7));
  }
  for (const auto& content : {binary, std::string(), std::string(100'000, 'x')}) {
    ASSERT_TRUE(store().add_attachment({"owner", "log", content}).has_value());
  }
  ASSERT_TRUE(store().add_attachment({"another", "log", "y"}).has_value());
  const auto back = store().attachments_of("owner").value();
  ASSERT_THAT(back, SizeIs(3));
  EXPECT_EQ(back[0].content, binary);
  EXPECT_EQ(back[1].content, "");
  EXPECT_EQ(back[2].content, std::string(100'000, 'x'));
  EXPECT_EQ(back[2].kind, "log");
}

TEST_P(StoreContract, RefusesARecordWithoutWhatItRefersTo) {
  Attempt orphan{.id = make_id(), .run = "no run", .case_key = "no case"};
  EXPECT_EQ(store().put_attempt(orphan).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().add_launch(make_launch("no attempt", 0)).error().code, ErrorCode::kNotFound);
  assay::Run run{.id = make_id(), .environment = "no environment"};
  EXPECT_EQ(store().add_run(run).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().finish_run("no run", 1).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().add_case("no run", Case{}).error().code, ErrorCode::kNotFound);
}

TEST_P(StoreContract, RefusesALaunchWithAnIdThatIsThereAndKeepsTheFirst) {
  const auto records = add_sample_run(store());
  auto twin = make_launch(records.attempt.id, 9);
  twin.id = records.launch.id;
  EXPECT_EQ(store().add_launch(twin).error().code, ErrorCode::kInvalidArgument);
  const auto launches = store().launches_of_attempt(records.attempt.id).value();
  ASSERT_THAT(launches, SizeIs(1));
  EXPECT_EQ(json_of(launches[0]), json_of(records.launch));
}

TEST_P(StoreContract, FindsRunsByIdPrefixAndAsLatest) {
  for (const auto* id : {"aa11", "aa22", "bb33"}) {
    assay::Run run{.id = id, .name = std::string("run ") + id};
    run.started_unix_ns = id[0] == 'b' ? 1 : 5;
    ASSERT_TRUE(store().add_run(run).has_value());
  }
  EXPECT_EQ(store().get_run("aa11").value().id, "aa11");
  EXPECT_EQ(store().get_run("bb").value().id, "bb33");
  EXPECT_EQ(store().get_run("latest").value().id, "bb33") << "added last, by a clock set back";
  const auto ambiguous = store().get_run("aa");
  ASSERT_FALSE(ambiguous.has_value());
  EXPECT_EQ(ambiguous.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(ambiguous.error().message, HasSubstr("aa11"));
  const auto absent = store().get_run("cc");
  ASSERT_FALSE(absent.has_value());
  EXPECT_EQ(absent.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(absent.error().message, HasSubstr("aa22 (run aa22)"));
  EXPECT_EQ(store().get_run("").error().code, ErrorCode::kNotFound);
}

TEST_P(StoreContract, RefusesASecondLaunchOfOneIndex) {
  const auto records = add_sample_run(store());
  EXPECT_EQ(store().add_launch(make_launch(records.attempt.id, 0)).error().code,
            ErrorCode::kInvalidArgument);
  const auto launches = store().launches_of_attempt(records.attempt.id).value();
  ASSERT_THAT(launches, SizeIs(1));
  EXPECT_EQ(launches[0].id, records.launch.id);
}

TEST_P(StoreContract, FindsTheNewestRunOfAPurposeOrVerb) {
  for (const auto* id : {"aa", "bb", "cc"}) {
    const bool is_reduction = id[0] == 'c';
    assay::Run run{.id = id,
                   .purpose = is_reduction ? "reduce" : "conform",
                   .argv = {"assay", is_reduction ? "compare" : "bench"}};
    run.started_unix_ns = id[0];
    ASSERT_TRUE(store().add_run(run).has_value());
  }
  EXPECT_EQ(store().get_run("latest").value().id, "cc");
  EXPECT_EQ(store().get_run("latest:conform").value().id, "bb");
  EXPECT_EQ(store().get_run("latest:bench").value().id, "bb") << "the verb that `runs` shows";
  EXPECT_EQ(store().get_run("latest:bnch").error().message,
            "no run of 'bnch'; did you mean 'bench'?");
  const auto listed = store().list_runs({.limit = 10, .purpose = "conform"}).value();
  ASSERT_THAT(listed, SizeIs(2));
  EXPECT_EQ(listed[0].run.id, "bb");
}

TEST_P(StoreContract, SaysThatNoRunIsThereYet) {
  EXPECT_EQ(store().get_run("latest").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().environment_of_run("x").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().get_artifact("x").error().code, ErrorCode::kNotFound);
  EXPECT_THAT(store().list_runs({.limit = 10}).value(), SizeIs(0));
  EXPECT_THAT(store().launches_of_attempt("x").value(), SizeIs(0));
}

TEST_P(StoreContract, ListsRunsNewestFirstWithCounts) {
  const auto records = add_sample_run(store());
  assay::Run empty{.id = make_id(), .started_unix_ns = records.run.started_unix_ns + 1};
  ASSERT_TRUE(store().add_run(empty).has_value());
  const auto runs = store().list_runs({.limit = 10}).value();
  ASSERT_THAT(runs, SizeIs(2));
  EXPECT_EQ(runs[0].run.id, empty.id);
  EXPECT_EQ(runs[0].cases, 0);
  EXPECT_EQ(runs[1].cases, 1);
  EXPECT_EQ(runs[1].launches, 1);
  EXPECT_THAT(store().list_runs({.limit = 1}).value(), SizeIs(1));
}

TEST_P(StoreContract, FinishesARunOnce) {
  const auto records = add_sample_run(store());
  ASSERT_TRUE(store().finish_run(records.run.id, 77).has_value());
  ASSERT_TRUE(store().finish_run(records.run.id, 88).has_value());
  EXPECT_EQ(store().get_run(records.run.id).value().finished_unix_ns, 77);
}

TEST_P(StoreContract, TakesNoMoreRecordsOfAFinishedRun) {
  const auto records = add_sample_run(store());
  const Comparison comparison{.id = make_id(), .run = records.run.id};
  ASSERT_TRUE(store().finish_run(records.run.id, 77).has_value());
  const std::vector<MetricRow> rows = {{records.attempt.id, "", make_metric("steady_ns", 1)}};
  for (const auto& status :
       {store().add_case(records.run.id, records.cell), store().put_attempt(records.attempt),
        store().put_comparison(comparison), store().add_metrics(rows),
        store().add_launch(make_launch(records.attempt.id, 1))}) {
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(status.error().message, HasSubstr(records.run.id));
  }
}

// The bytes of a program that a recipe made, measured again by themselves.
TEST_P(StoreContract, KeepsTheManifestOfEachOfTwoArtifactsOfTheSameBytes) {
  const auto first = add_sample_run(store());
  auto file = first.artifact;
  file.key = file.digest();
  file.folder = "/elsewhere";
  file.manifest = nullptr;
  ASSERT_EQ(file.digest(), first.artifact.digest());
  ASSERT_NE(file.id(), first.artifact.id());
  ASSERT_TRUE(store().add_artifact(file).has_value());
  auto second = first.attempt;
  second.id = make_id();
  second.artifact = file.id();
  ASSERT_TRUE(store().put_attempt(second).has_value());
  const auto attempts = store().attempts_of_run(first.run.id).value();
  ASSERT_THAT(attempts, SizeIs(2));
  EXPECT_EQ(json_of(store().get_artifact(attempts[0].artifact).value()), json_of(first.artifact));
  EXPECT_EQ(json_of(store().get_artifact(attempts[1].artifact).value()), json_of(file));
}

TEST_P(StoreContract, KeepsAReferenceThatWasMadeAgain) {
  const auto records = add_sample_run(store());
  auto again = records.reference;
  again.document["made"] = "again";
  ASSERT_TRUE(store().add_reference(again).has_value());
  EXPECT_EQ(json_of(store().get_reference(records.reference.id()).value()),
            json_of(records.reference));
  EXPECT_EQ(json_of(store().get_reference(again.id()).value()), json_of(again));
}

TEST_P(StoreContract, KeepsWhatAMachineToldWhenEachRunBegan) {
  const auto first = add_sample_run(store());
  auto later = first.environment;
  later.memory_bytes = 17;
  ASSERT_TRUE(store().add_environment(later).has_value());
  const assay::Run second{
      .id = make_id(), .environment = later.id, .environment_key = environment_key(later)};
  ASSERT_TRUE(store().add_run(second).has_value());
  EXPECT_EQ(json_of(store().environment_of_run(first.run.id).value()), json_of(first.environment));
  EXPECT_EQ(json_of(store().environment_of_run(second.id).value()), json_of(later));
}

TEST_P(StoreContract, KeepsTheMachineOfEachDeviceOfARun) {
  const auto records = add_sample_run(store());
  auto other = records.environment;
  other.id = "env-2";
  EXPECT_TRUE(store().environments_of_run(records.run.id)->empty()) << "a run on one device";
  ASSERT_TRUE(store().add_run_device(records.run.id, "a", records.environment));
  ASSERT_TRUE(store().add_run_device(records.run.id, "b", other));
  ASSERT_TRUE(store().add_run_device(records.run.id, "b", records.environment));
  const auto machines = store().environments_of_run(records.run.id).value();
  ASSERT_EQ(machines.size(), 2U);
  EXPECT_EQ(json_of(machines.at("a")), json_of(records.environment));
  EXPECT_EQ(json_of(machines.at("b")), json_of(other)) << "the first one stays";
  EXPECT_EQ(store().add_run_device("x", "a", other).error().code, ErrorCode::kNotFound);
}

TEST_P(StoreContract, TakesRecordsOfSeveralThreads) {
  const auto records = add_sample_run(store());
  constexpr int kThreads = 4;
  constexpr int kLaunches = 25;
  std::vector<std::string> attempts;
  for (int i = 0; i < kThreads; ++i) {
    auto attempt = records.attempt;
    attempt.id = make_id();
    ASSERT_TRUE(store().put_attempt(attempt));
    attempts.push_back(attempt.id);
  }
  {
    std::vector<std::jthread> threads;
    for (const auto& attempt : attempts) {
      threads.emplace_back([this, &attempt, launch = records.launch]() mutable {
        launch.attempt = attempt;
        for (launch.index = 0; launch.index < kLaunches; ++launch.index) {
          launch.id = make_uuid7();
          EXPECT_TRUE(store().add_launch(launch));
          EXPECT_TRUE(store().launches_of_attempt(attempt));
        }
      });
    }
  }
  for (const auto& attempt : attempts) {
    EXPECT_EQ(store().launches_of_attempt(attempt)->size(), kLaunches);
  }
}

TEST_P(StoreContract, TellsHowLongEachPassOfACaseTookInItsNewestRun) {
  const auto first = add_sample_run(store());
  const auto key = case_key(first.cell);
  const auto past = [&](Pass pass) { return store().past_launches(key, pass).value(); };
  EXPECT_EQ(past(Pass::kTiming).wall_ns, first.launch.end.wall_ns);
  EXPECT_EQ(past(Pass::kMemory).count, 0);
  auto second = first;
  second.run.id = make_id();
  second.run.started_unix_ns += 1;
  second.attempt.id = make_id();
  second.attempt.run = second.run.id;
  ASSERT_TRUE(store().add_run(second.run).has_value());
  ASSERT_TRUE(store().put_attempt(second.attempt).has_value());
  EXPECT_EQ(past(Pass::kTiming).wall_ns, first.launch.end.wall_ns) << "no launch yet";
  for (const int index : {0, 1}) {
    auto launch = make_launch(second.attempt.id, index);
    launch.end.wall_ns = 100;
    ASSERT_TRUE(store().add_launch(launch).has_value());
  }
  EXPECT_EQ(past(Pass::kTiming).attempts, 1);
  EXPECT_EQ(past(Pass::kTiming).count, 2);
  EXPECT_EQ(past(Pass::kTiming).wall_ns, 200);
  auto evaluation = second.attempt;
  evaluation.id = make_id();
  evaluation.pass = Pass::kEvaluate;
  ASSERT_TRUE(store().put_attempt(evaluation).has_value());
  ASSERT_TRUE(store().add_launch(make_launch(evaluation.id, 0)).has_value());
  EXPECT_EQ(past(Pass::kEvaluate).count, 1);
  EXPECT_EQ(past(Pass::kTiming).wall_ns, 200) << "each pass by itself";
  EXPECT_EQ(store().past_launches("never ran", Pass::kTiming).value().count, 0);
}

}  // namespace
}  // namespace assay
