// Campaigns on a scripted device: what is launched, in which order, and what becomes of losses.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "assay/base/digest.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/launch.h"
#include "assay/campaign/launch_target.h"
#include "assay/campaign/preparation.h"
#include "assay/campaign/resume.h"
#include "assay/campaign/run_context.h"
#include "assay/campaign/testing/campaign_bench.h"
#include "assay/campaign/testing/scripted_device.h"
#include "assay/record/artifact_role.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/launch.h"
#include "assay/record/run.h"
#include "assay/record/spawn.h"
#include "assay/wire/frame.h"
#include "assay/wire/messages.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr std::int64_t kMillisecondNs = 1'000'000;

Result<LaunchResult> healthy(const LaunchRequest& request, int /*launch*/) {
  return request.pass == Pass::kTiming ? timed_result(request, kMillisecondNs) : completed_result();
}

std::unexpected<Error> lost() { return fail(ErrorCode::kCrashed, "the agent ended"); }

std::vector<std::string> programs_of(const std::vector<LaunchRequest>& requests) {
  std::vector<std::string> programs;
  for (const auto& request : requests) {
    programs.push_back(program_of(request));
  }
  return programs;
}

Attempt only_attempt(CampaignBench& bench, const CampaignRequest& request,
                     const std::string& program) {
  const auto attempts = bench.attempts_of_program(request.context.run.id, program);
  EXPECT_THAT(attempts, SizeIs(1));
  return attempts.at(0);
}

// ---- order

TEST(LaunchFlow, TimesAllCasesInRoundsAfterEveryOtherPass) {
  CampaignBench bench(healthy);
  auto request = bench.request_for({bench.add_program("a"), bench.add_program("b")});
  request.context.settings.passes = {Pass::kTiming, Pass::kMemory};
  ASSERT_TRUE(run_campaign(request, bench.tools()));
  const auto& requests = bench.device.requests;
  ASSERT_THAT(requests, SizeIs(6));
  EXPECT_THAT(programs_of({requests.begin(), requests.begin() + 2}), ElementsAre("a", "b"));
  EXPECT_EQ(requests[1].pass, Pass::kMemory);
  for (const std::size_t round : {2U, 4U}) {
    EXPECT_EQ(requests[round].pass, Pass::kTiming);
    EXPECT_NE(program_of(requests[round]), program_of(requests[round + 1]));
  }
  EXPECT_EQ(bench.locks, 1);
  EXPECT_EQ(bench.device.connections, 1) << "one target serves every launch";
}

TEST(LaunchFlow, NamesLaunchesAheadToATargetWithAQueueAsTheyWillBeRun) {
  CampaignBench bench(healthy);
  bench.device.has_queue = true;
  auto request = bench.request_for({bench.add_program("a"), bench.add_program("b")});
  request.context.settings.passes = {Pass::kTiming, Pass::kMemory};
  ASSERT_TRUE(run_campaign(request, bench.tools()));
  const auto& [requests, expected] = std::tie(bench.device.requests, bench.device.expected);
  ASSERT_THAT(expected, ElementsAre(SizeIs(2), SizeIs(4)));
  auto named = programs_of(expected[0]);
  std::ranges::move(programs_of(expected[1]), std::back_inserter(named));
  EXPECT_EQ(named, programs_of(requests));
}

TEST(LaunchFlow, NamesNoFurtherThanLaunchesAreCertain) {
  CampaignBench bench([](const LaunchRequest& launch, int before) -> Result<LaunchResult> {
    return timed_result(launch, (1 + before) * kMillisecondNs);
  });
  bench.device.has_queue = true;
  auto request = bench.request_for({bench.add_program("a")});
  request.context.settings.launches = {
      .least = 5, .most = 7, .interval_ratio = 1e-9, .adapts_iterations = true};
  ASSERT_TRUE(run_campaign(request, bench.tools()));
  // Three to learn from, two with what was learnt, then one at a time.
  EXPECT_THAT(bench.device.expected, ElementsAre(SizeIs(3), SizeIs(2), SizeIs(1), SizeIs(1)));
  EXPECT_EQ(bench.device.expected[1][0].plan.iterations, bench.device.requests[3].plan.iterations);
}

TEST(LaunchFlow, EvaluatesTheProviderOfAReferenceFirst) {
  constexpr std::array kRight = {1.0F, 2.0F, 3.0F};
  constexpr std::array kWrong = {1.0F, 2.0F, 9.0F};
  CampaignBench bench([&](const LaunchRequest& request, int /*launch*/) -> Result<LaunchResult> {
    return evaluated_result(
        program_of(request) == "wrong" && request.build.name == "other" ? kWrong : kRight);
  });
  auto request = bench.request_for(
      {bench.add_program("right", "other@1"), bench.add_program("wrong", "other@1")});
  request.context.settings.passes = {Pass::kEvaluate};
  request.context.settings.against = {"engine:fake"};
  for (const auto& cell : request.cases) {
    bench.keep_inputs(cell);
  }
  const auto status = run_campaign(request, bench.tools());
  ASSERT_TRUE(status) << status.error().message;
  std::vector<std::string> builds;
  for (const auto& launch : bench.device.requests) {
    builds.push_back(launch.build.name);
  }
  EXPECT_THAT(builds, ElementsAre("fake", "fake", "other", "other"));
  const auto accuracy_of = [&](const std::string& program) {
    std::string accuracies;
    for (const auto& attempt : bench.attempts_of_program(request.context.run.id, program)) {
      const auto attachments = bench.store->attachments_of(attempt.id).value();
      for (const auto& attachment : attachments) {
        accuracies += attachment.kind == "accuracy_table" ? attachment.content : "";
      }
    }
    return accuracies;
  };
  EXPECT_THAT(accuracy_of("right"), HasSubstr(R"("accuracy":"pass")"));
  EXPECT_THAT(accuracy_of("wrong"), HasSubstr(R"("accuracy":"fail)"));
}

// ---- losses

TEST(LaunchFlow, MakesALaunchAgainOnceWhenItsTargetIsLost) {
  CampaignBench bench([](const LaunchRequest& request, int launch) -> Result<LaunchResult> {
    return launch == 0 ? Result<LaunchResult>(lost()) : healthy(request, launch);
  });
  const auto request = bench.request_for({bench.add_program("a")});
  ASSERT_TRUE(run_campaign(request, bench.tools()));
  EXPECT_EQ(bench.device.connections, 2);
  EXPECT_THAT(bench.device.requests, SizeIs(3));
  EXPECT_THAT(bench.launches_of_run(request.context.run.id), SizeIs(2))
      << "the lost one is no launch";
  EXPECT_EQ(only_attempt(bench, request, "a").outcome, Outcome::kCompleted);
}

TEST(LaunchFlow, BlamesTheProgramThatLosesItsTargetTwice) {
  CampaignBench bench([](const LaunchRequest& request, int launch) -> Result<LaunchResult> {
    return program_of(request) == "killer" ? Result<LaunchResult>(lost())
                                           : healthy(request, launch);
  });
  const auto request = bench.request_for({bench.add_program("killer"), bench.add_program("a")});
  ASSERT_TRUE(run_campaign(request, bench.tools()));
  const auto killer = only_attempt(bench, request, "killer");
  EXPECT_EQ(killer.outcome, Outcome::kCrashed);
  EXPECT_EQ(killer.reason_code, "agent_lost");
  EXPECT_THAT(killer.text, HasSubstr("the agent ended"));
  EXPECT_EQ(only_attempt(bench, request, "a").outcome, Outcome::kCompleted);
}

TEST(LaunchFlow, StopsWhenLaunchAfterLaunchLosesItsTarget) {
  CampaignBench bench([](const LaunchRequest&, int) -> Result<LaunchResult> { return lost(); });
  std::vector<Case> cases;
  for (const auto* name : {"a", "b", "c", "d", "e"}) {
    cases.push_back(bench.add_program(name));
  }
  const auto request = bench.request_for(cases);
  const auto status = run_campaign(request, bench.tools());
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(status.error().message, HasSubstr("3 launches in a row"));
  EXPECT_THAT(bench.device.requests, SizeIs(6)) << "two tries at each of three";
  EXPECT_EQ(bench.store->get_run(request.context.run.id)->finished_unix_ns, 0);
}

TEST(LaunchFlow, MakesLaunchesAgainThatLostTheirDeviceWhenTheRunIsResumed) {
  constexpr std::array kNames{"a", "b", "c", "d"};
  bool is_lost = false;
  CampaignBench bench([&is_lost](const LaunchRequest& request, int launch) {
    return is_lost ? Result<LaunchResult>(lost()) : healthy(request, launch);
  });
  bench.device.has_link = true;
  std::vector<Case> cases;
  for (const auto* name : kNames) {
    cases.push_back(bench.add_program(name));
  }
  auto request = bench.request_for(cases);
  request.context.settings.passes = {Pass::kMemory, Pass::kTiming};
  bench.listener.stop_after = 5;  // One timed launch, and the memory of each.
  ASSERT_FALSE(run_campaign(request, bench.tools()));
  bench.listener.stop_after = -1;
  request.context.is_resumed = true;
  is_lost = true;
  EXPECT_THAT(run_campaign(request, bench.tools()).error().message,
              HasSubstr("3 launches in a row"));
  is_lost = false;
  const auto resumed = run_campaign(request, bench.tools());
  ASSERT_TRUE(resumed) << resumed.error().message;
  EXPECT_NE(bench.store->get_run(request.context.run.id)->finished_unix_ns, 0);
  for (const auto* name : kNames) {
    for (const auto& attempt : bench.attempts_of_program(request.context.run.id, name)) {
      EXPECT_EQ(attempt.outcome, Outcome::kCompleted) << attempt.text;
      EXPECT_EQ(attempt.reason_code, "");
      const auto launches = bench.store->launches_of_attempt(attempt.id).value();
      EXPECT_EQ(std::ranges::count(launches, Outcome::kCompleted, &Launch::outcome),
                attempt.pass == Pass::kTiming ? 2 : 1);
    }
  }
}

TEST(LaunchFlow, KeepsARunOpenWhoseLastLaunchLostItsDevice) {
  bool is_lost = true;
  CampaignBench bench([&is_lost](const LaunchRequest& request, int launch) {
    return is_lost ? Result<LaunchResult>(lost()) : healthy(request, launch);
  });
  bench.device.has_link = true;
  auto request = bench.request_for({bench.add_program("a")});
  const auto stopped = run_campaign(request, bench.tools());
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(stopped.error().message, HasSubstr("device 'local' was lost at the end"));
  EXPECT_EQ(bench.store->get_run(request.context.run.id)->finished_unix_ns, 0);
  is_lost = false;
  request.context.is_resumed = true;
  ASSERT_TRUE(run_campaign(request, bench.tools()));
  for (const auto& attempt : bench.attempts_of_program(request.context.run.id, "a")) {
    EXPECT_EQ(attempt.outcome, Outcome::kCompleted) << attempt.text;
  }
}

TEST(LaunchFlow, TellsAtOnceWhichDeviceWasLost) {
  CampaignBench bench([](const LaunchRequest& request, int launch) -> Result<LaunchResult> {
    return launch == 0 ? Result<LaunchResult>(lost()) : healthy(request, launch);
  });
  bench.device.has_link = true;
  auto request = bench.request_for({bench.add_program("a")});
  request.context.device = "phone";
  ASSERT_TRUE(run_campaign(request, bench.tools()));
  EXPECT_THAT(bench.listener.notes,
              ElementsAre("lost device 'phone': the agent ended; waiting for it to come back, then "
                          "try 2 of 5"));
}

TEST(LaunchFlow, NamesTheDeviceThatDoesNotComeBackAndNoStopOfTheRun) {
  CampaignBench bench([](const LaunchRequest&, int) -> Result<LaunchResult> { return lost(); });
  bench.device.has_link = true;
  auto request = bench.request_for({bench.add_program("a"), bench.add_program("b")});
  request.context.device = "phone";
  auto tools = bench.tools();
  tools.connect_target = [connect = tools.connect_target,
                          first = true]() mutable -> Result<std::unique_ptr<LaunchTarget>> {
    if (std::exchange(first, false)) {
      return connect();
    }
    return fail(ErrorCode::kUnavailable, "it is not connected");
  };
  const auto status = run_campaign(request, tools);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message,
            "device 'phone' was lost and did not come back: it is not connected (the loss: the "
            "agent ended)");
  for (const auto* name : {"a", "b"}) {
    const auto attempt = only_attempt(bench, request, name);
    EXPECT_FALSE(attempt.is_finished);
    EXPECT_THAT(attempt.text, HasSubstr("this case did not finish: device 'phone' was lost"));
  }
}

TEST(LaunchFlow, TakesARefusalByALivingTargetForTheOutcomeOfTheLaunch) {
  CampaignBench bench([](const LaunchRequest&, int) -> Result<LaunchResult> {
    return fail(ErrorCode::kNotFound, "no runner at /fake");
  });
  const auto request = bench.request_for({bench.add_program("a")});
  ASSERT_TRUE(run_campaign(request, bench.tools()));
  EXPECT_EQ(bench.device.connections, 1);
  EXPECT_THAT(bench.device.requests, SizeIs(1));
  const auto attempt = only_attempt(bench, request, "a");
  EXPECT_EQ(attempt.stage, Stage::kStart);
  EXPECT_EQ(attempt.reason_code, "not_found");
  EXPECT_THAT(attempt.text, HasSubstr("no runner at /fake"));
}

TEST(LaunchFlow, SkipsACaseWhoseDeviceDoesNotGetCool) {
  CampaignBench bench([](const LaunchRequest&, int) -> Result<LaunchResult> {
    return fail(ErrorCode::kTimeout, "the device is at 60.0 C and does not get below 40.0 C");
  });
  const auto request = bench.request_for({bench.add_program("a")});
  ASSERT_TRUE(run_campaign(request, bench.tools()));
  const auto attempt = only_attempt(bench, request, "a");
  EXPECT_EQ(attempt.outcome, Outcome::kSkipped);
  EXPECT_EQ(attempt.reason_code, "device_not_ready");
  EXPECT_THAT(attempt.text, HasSubstr("does not get below"));
}

// ---- runners that lie, programs that change

/// The answer of a process that measured a different number of iterations than requested.
LaunchResult lying_result(const LaunchRequest& request) {
  SpawnResult answer;
  answer.end = {.exit_code = 0, .wall_ns = 1'000 * kMillisecondNs};
  auto measure = wire::frame_of(wire::MessageType::kMeasure, 3,
                                Measurement{.iterations = 1'000'000, .stopped_by = "count"});
  measure.blob = wire::blob_from_samples({{1}, {1}, {1}});
  for (const auto& frame :
       {wire::frame_of(wire::MessageType::kHello, 1, wire::Hello{.program = "fake"}),
        wire::frame_of(wire::MessageType::kLoad, 2, LoadReport{}), measure,
        wire::frame_of(wire::MessageType::kUnload, 4, Json::object()),
        wire::frame_of(wire::MessageType::kBye, 5, Json::object())}) {
    wire::append_frame(answer.output, frame);
  }
  return result_from_answer(answer, request);
}

TEST(LaunchFlow, CutsTheTextOfAnErrorWhoeverSaysIt) {
  CampaignBench bench([](const LaunchRequest& request, int) -> Result<LaunchResult> {
    SpawnResult answer;
    answer.end = {.exit_code = 0, .wall_ns = 1'000 * kMillisecondNs};
    wire::append_frame(answer.output,
                       wire::error_frame(2,
                                         {.code = ErrorCode::kEngine,
                                          .message = std::string(3'000'000, 'x'),
                                          .engine_code = std::string(1'000'000, 'c')},
                                         Stage::kLoad));
    return result_from_answer(answer, request);
  });
  const auto request = bench.request_for({bench.add_program("a")});
  ASSERT_TRUE(run_campaign(request, bench.tools()));
  const auto attempt = only_attempt(bench, request, "a");
  EXPECT_LT(attempt.text.size(), 100'000U);
  EXPECT_THAT(attempt.text, HasSubstr("xxx"));
  EXPECT_LT(attempt.reason_code.size(), 1'000U);
}

TEST(LaunchFlow, KeepsNoSampleOfARunnerThatLies) {
  CampaignBench bench([](const LaunchRequest& request, int launch) -> Result<LaunchResult> {
    return program_of(request) == "liar" ? lying_result(request) : healthy(request, launch);
  });
  const auto request = bench.request_for({bench.add_program("liar"), bench.add_program("a")});
  ASSERT_TRUE(run_campaign(request, bench.tools()));
  const auto liar = only_attempt(bench, request, "liar");
  EXPECT_EQ(liar.outcome, Outcome::kRunError);
  EXPECT_EQ(liar.reason_code, "malformed_answer");
  const auto launches = bench.store->launches_of_attempt(liar.id).value();
  ASSERT_THAT(launches, SizeIs(1));
  for (const auto& launch : launches) {
    EXPECT_FALSE(launch.measurement.has_value());
  }
  EXPECT_EQ(only_attempt(bench, request, "a").outcome, Outcome::kCompleted);
}

TEST(LaunchFlow, KeepsNoTimesOfAProgramThatWasReplacedMeanwhile) {
  CampaignBench* self = nullptr;
  CampaignBench bench([&self](const LaunchRequest& request, int launch) -> Result<LaunchResult> {
    if (launch == 1) {
      EXPECT_TRUE(write_file_atomically(self->folder.path() / request.artifact.entry, "another"));
    }
    return healthy(request, launch);
  });
  self = &bench;
  const auto request = bench.request_for({bench.add_program("a")});
  ASSERT_TRUE(run_campaign(request, bench.tools()));
  const auto attempt = only_attempt(bench, request, "a");
  EXPECT_EQ(attempt.outcome, Outcome::kHarnessError);
  EXPECT_EQ(attempt.reason_code, "program_changed");
}

/// The program "a" with a file that it names, of this mode and the content "1".
CampaignTools tools_with_named_file(CampaignBench& bench, const RunContext& context,
                                    const std::filesystem::path& file, mode_t mode) {
  EXPECT_TRUE(write_file_atomically(file, "1", mode));
  auto tools = bench.tools();
  tools.prepare = [plain = bench.tools(), context,
                   file](const std::vector<Case>& cases) -> Result<std::vector<PreparedCase>> {
    auto prepared = prepare_cases(context, cases, plain);
    for (auto& one : *prepared) {
      one.artifact->files.push_back(
          {.name = file.string(), .role = kNamedRole, .bytes = 1, .sha256 = sha256_hex("1")});
    }
    return prepared;
  };
  return tools;
}

Attempt attempt_that_writes(mode_t mode) {
  const auto folder = TemporaryFolder::make("assay-test").value();
  const auto file = folder.path() / "named";
  CampaignBench bench([&](const LaunchRequest& request, int launch) {
    EXPECT_TRUE(write_file_atomically(file, fmt::format("written by launch {}", launch), mode));
    return healthy(request, launch);
  });
  const auto request = bench.request_for({bench.add_program("a")});
  EXPECT_TRUE(run_campaign(request, tools_with_named_file(bench, request.context, file, mode)));
  return only_attempt(bench, request, "a");
}

TEST(LaunchFlow, LetsACommandWriteTheFilesThatItNames) {
  EXPECT_EQ(attempt_that_writes(0644).outcome, Outcome::kCompleted);
}

TEST(LaunchFlow, KeepsNoTimesOfACommandWhoseExecutableWasReplaced) {
  EXPECT_EQ(attempt_that_writes(0755).reason_code, "program_changed");
}

// ---- interruption and resumption

TEST(LaunchFlow, GoesOnWhereItWasInterrupted) {
  CampaignBench bench(healthy);
  auto request = bench.request_for({bench.add_program("a"), bench.add_program("b")});
  bench.listener.stop_after = 3;
  const auto stopped = run_campaign(request, bench.tools());
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::kTimeout);
  EXPECT_THAT(bench.launches_of_run(request.context.run.id), SizeIs(3));

  bench.listener.stop_after = -1;
  request.context.is_resumed = true;
  ASSERT_TRUE(run_campaign(request, bench.tools()));
  EXPECT_THAT(bench.device.requests, SizeIs(4)) << "no launch is made twice";
  std::map<std::string, int> launches;
  std::vector<int> orders;
  for (const auto& launch : bench.launches_of_run(request.context.run.id)) {
    ++launches[launch.attempt];
    orders.push_back(launch.order);
  }
  EXPECT_THAT(launches, SizeIs(2));
  EXPECT_THAT(orders, ElementsAre(0, 1, 2, 3));
  EXPECT_NE(bench.store->get_run(request.context.run.id)->finished_unix_ns, 0);
}

TEST(LaunchFlow, LaunchesNothingWhenAnotherProcessFinishedTheRunMeanwhile) {
  CampaignBench bench(healthy);
  auto request = bench.request_for({bench.add_program("a")});
  bench.listener.stop_after = 1;
  ASSERT_FALSE(run_campaign(request, bench.tools()));
  bench.listener.stop_after = -1;
  request.context.is_resumed = true;
  auto tools = bench.tools();
  tools.lock_device = [&]() -> Result<std::shared_ptr<void>> {
    EXPECT_TRUE(bench.store->finish_run(request.context.run.id, 1));
    return std::make_shared<int>(0);
  };
  ASSERT_TRUE(run_campaign(request, tools));
  EXPECT_THAT(bench.device.requests, SizeIs(1));
}

TEST(LaunchFlow, LeavesACaseOpenWhoseWaitForTheDeviceWasStopped) {
  CampaignBench* stopped = nullptr;
  CampaignBench bench([&](const LaunchRequest& request, int launch) -> Result<LaunchResult> {
    if (launch < 1) {
      return healthy(request, launch);
    }
    stopped->listener.stop_after = 0;
    return fail(ErrorCode::kTimeout, "stopped while a device's gate was waited for");
  });
  stopped = &bench;
  auto request = bench.request_for({bench.add_program("a")});
  EXPECT_FALSE(run_campaign(request, bench.tools()));
  EXPECT_FALSE(only_attempt(bench, request, "a").is_finished);
  EXPECT_THAT(bench.launches_of_run(request.context.run.id), SizeIs(1));
}

TEST(LaunchFlow, StopsWhereThereIsNoRoomAndBlamesNoCase) {
  CampaignBench bench([](const LaunchRequest& request, int launch) -> Result<LaunchResult> {
    if (launch < 1) {
      return healthy(request, launch);
    }
    return fail(ErrorCode::kExhausted, "no space for blob 12ab: free some space on the device");
  });
  auto request = bench.request_for({bench.add_program("a")});
  const auto status = run_campaign(request, bench.tools());
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kExhausted);
  EXPECT_THAT(status.error().message, HasSubstr("on the device; then resume with assay run"));
  EXPECT_FALSE(only_attempt(bench, request, "a").is_finished);
}

TEST(LaunchFlow, KnowsTheCasesOfARunThatStoppedBeforeItsFirstLaunch) {
  CampaignBench bench(healthy);
  const auto a = bench.add_program("a");
  const auto b = bench.add_program("b");
  auto only_a = bench.request_for({a});
  auto tools = bench.tools();
  tools.prepare = [](const std::vector<Case>&) -> Result<std::vector<PreparedCase>> {
    return fail(ErrorCode::kTimeout, "stopped while artifacts were made");
  };
  ASSERT_FALSE(run_campaign(only_a, tools));
  std::vector<CampaignRequest> resumed = {only_a};
  resumed.front().cases = {a, b};
  const auto kept = keep_cases_of_run(only_a.context.run.id, *bench.store, resumed).value();
  EXPECT_EQ(kept.begun, 1U);
  EXPECT_THAT(resumed.front().cases, SizeIs(1)) << "--only left out the other";
}

TEST(LaunchFlow, TakesUpWhatAnotherProcessDidMeanwhile) {
  CampaignBench bench(healthy);
  const auto request = bench.request_for({bench.add_program("a")});
  auto tools = bench.tools();
  const auto lock = tools.lock_device;
  bool is_first = true;
  tools.lock_device = [&]() -> Result<std::shared_ptr<void>> {
    if (std::exchange(is_first, false)) {  // While this one waits, another one resumes its run.
      auto resumed = request;
      resumed.context.is_resumed = true;
      EXPECT_TRUE(run_campaign(resumed, tools));
    }
    return lock();
  };
  ASSERT_TRUE(run_campaign(request, tools));
  EXPECT_THAT(bench.device.requests, SizeIs(2));
  EXPECT_TRUE(only_attempt(bench, request, "a").is_finished);
}

TEST(LaunchFlow, JudgesACaseAsSoonAsTheReferenceThatItWaitsForIsThere) {
  constexpr std::array kOutput = {1.0F, 2.0F, 3.0F};
  CampaignBench* measured = nullptr;
  std::string run;
  std::vector<std::ptrdiff_t> judged;  // Before each launch.
  CampaignBench bench([&](const LaunchRequest&, int) -> Result<LaunchResult> {
    judged.push_back(std::ranges::count(measured->store->attempts_of_run(run).value(), true,
                                        &Attempt::is_finished));
    return evaluated_result(kOutput);
  });
  measured = &bench;
  auto request =
      bench.request_for({bench.add_program("a", "fake@1"), bench.add_program("a", "other@1"),
                         bench.add_program("b", "fake@1"), bench.add_program("b", "other@1")});
  run = request.context.run.id;
  request.context.settings.passes = {Pass::kEvaluate};
  request.context.settings.against = {"engine:fake", "engine:other"};
  for (const auto& cell : request.cases) {
    bench.keep_inputs(cell);
  }
  ASSERT_TRUE(run_campaign(request, bench.tools()));
  EXPECT_THAT(judged, ElementsAre(0, 0, 2, 2)) << "outputs are not kept to the end";
}

TEST(LaunchFlow, EndsACaseAtItsFirstLaunchThatFails) {
  CampaignBench bench([](const LaunchRequest& request, int launch) -> Result<LaunchResult> {
    return program_of(request) == "bad"
               ? failed_launch({Outcome::kCrashed, Stage::kSteady, "SIGSEGV", "it died"})
               : healthy(request, launch);
  });
  const auto request = bench.request_for({bench.add_program("bad"), bench.add_program("a")});
  ASSERT_TRUE(run_campaign(request, bench.tools()));
  EXPECT_THAT(programs_of(bench.device.requests), testing::UnorderedElementsAre("bad", "a", "a"));
  EXPECT_EQ(only_attempt(bench, request, "bad").reason_code, "SIGSEGV");
}

}  // namespace
}  // namespace assay
