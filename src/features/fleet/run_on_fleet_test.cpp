#include "features/fleet/run_on_fleet.h"

#include "features/compare/compare.h"
#include "features/fleet/artifact_store.h"
#include "features/fleet/execute_job.h"
#include "features/fleet/executor.h"
#include "features/fleet/fleet_campaigns.h"
#include "features/fleet/fleet_job.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/campaign/launch.h"
#include "assay/campaign/remote_target.h"
#include "assay/campaign/testing/campaign_bench.h"
#include "assay/campaign/testing/scripted_device.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/comparison.h"
#include "assay/record/job_execution.h"
#include "assay/store/lost_executions.h"
#include "assay/store/result_store.h"
#include "assay/summary/summarize.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Result<LaunchResult> complete_on_fleet(const LaunchRequest& request, int /*launch*/) {
  return timed_result(request, 1'000'000);
}

/// Executes jobs when it is asked for events, one after the other, on a scripted device.
class ScriptedExecutor : public Executor {
 public:
  ScriptedExecutor(std::filesystem::path folder, ArtifactStore& artifacts,
                   const ArtifactCache& cache, CampaignListener& listener)
      : folder_(std::move(folder)), artifacts_(artifacts), cache_(cache), listener_(listener) {}

  Result<std::vector<FleetWorker>> workers() override { return std::vector<FleetWorker>(); }
  Result<Submission> submit(const FleetJob& job) override {
    if (lost_.contains({job.id, job.n})) {
      return Submission::kLostBefore;
    }
    // A job travels as text.
    submitted.push_back(job_from_json(json_from_job(job)).value());
    open_.push_back(submitted.back());
    return Submission::kQueued;
  }
  Result<std::optional<FleetEvent>> next(std::chrono::milliseconds /*timeout*/) override {
    if (ends) {
      ASSAY_RETURN_IF_ERROR(ends());
    }
    if (!ready_.empty()) {
      const auto part = ready_.back();
      ready_.pop_back();
      return FleetEvent{.kind = FleetEvent::Kind::kDone, .part = part};
    }
    if (open_.empty()) {
      return std::nullopt;
    }
    const auto job = open_.front();
    open_.erase(open_.begin());
    if (!silent.empty()) {
      open_.insert(open_.begin(), job);
      const auto kind = silent == "d0" ? FleetEvent::Kind::kStarted : FleetEvent::Kind::kSilent;
      silent = silent == "d0" ? "d0, not heard" : "";
      return FleetEvent{.kind = kind,
                        .job = job.id,
                        .n = job.n,
                        .device = "d0",
                        .why = "no sign of life for 4 s"};
    }
    if (is_cancelled) {
      return FleetEvent{.kind = FleetEvent::Kind::kCancelled, .job = job.id, .n = job.n};
    }
    if (loses && loses(job)) {
      lost_.emplace(job.id, job.n);
      return FleetEvent{.kind = FleetEvent::Kind::kLost, .job = job.id, .n = job.n, .why = "gone"};
    }
    for (int i = 0; i < times; ++i) {
      ready_.push_back(execute(job, fmt::format("d{}", i + 1)).value());
    }
    return std::nullopt;
  }
  Status forget(const std::filesystem::path& part) override {
    forgotten.push_back(part);
    return {};
  }
  Result<int> cancel(const std::string& /*run*/) override { return 0; }
  Result<std::vector<FleetQueue>> queues() override { return std::vector<FleetQueue>(); }
  Status drain(const std::string& /*device*/, const std::string& /*reason*/) override { return {}; }

  Result<std::filesystem::path> execute(const FleetJob& job, const std::string& name) {
    ScriptedDevice device(launches);
    WorkingDevice working{
        .name = name,
        .environment = {.id = "machine of " + name, .device_class = "test"},
        .builds = {{.name = "fake", .label = "1", .build_id = "f"}},
        .connect = device.connector(),
        .lock = []() -> Result<std::shared_ptr<void>> { return std::make_shared<int>(0); },
        .check_health = health};
    return execute_job(
        job, working,
        {.cache = cache_, .artifacts = artifacts_, .listener = listener_, .worker = "test:" + name},
        folder_ / (job.id + ".db"));
  }

  std::vector<FleetJob> submitted;
  std::vector<std::filesystem::path> forgotten;
  std::function<bool(const FleetJob&)> loses;
  std::function<Status()> health;
  std::function<Status()> ends;  ///< Called where an event is asked for.
  std::string silent;  ///< "d0": that device takes the first job, and is not heard of any more.
  int times = 1;       ///< Number of executions of each job.
  bool is_cancelled = false;  ///< Somebody took all jobs back.
  std::function<Result<LaunchResult>(const LaunchRequest&, int)> launches = complete_on_fleet;

 private:
  std::filesystem::path folder_;
  ArtifactStore& artifacts_;
  const ArtifactCache& cache_;
  CampaignListener& listener_;
  std::vector<FleetJob> open_;
  std::set<std::pair<std::string, int>> lost_;  ///< Tries, as a scheduler remembers them.
  std::vector<std::filesystem::path> ready_;
};

class RunOnFleet : public testing::Test {
 protected:
  RunOnFleet() {
    std::filesystem::create_directories(folder() / "parts");
    request_ = bench_.request_for({bench_.add_program("one"), bench_.add_program("two")});
    for (auto& cell : request_.cases) {
      cell.device = "class:test";
    }
    request_.context.device = "class:test";
  }

  std::filesystem::path folder() const { return bench_.folder.path(); }

  Result<FleetEnd> drive() {
    const auto tools = bench_.tools();
    const FleetRequest fleet{
        .groups = {{.campaign = request_, .device = {.name = {}, .device_class = "test"}}},
        .artifact_store = (folder() / "artifacts").string()};
    return run_on_fleet(fleet,
                        {.campaign = tools, .executor = executor_, .artifacts = *artifacts_});
  }

  std::vector<std::string> devices_of_attempts() {
    std::vector<std::string> devices;
    const auto attempts = bench_.store->attempts_of_run(run()).value();
    for (const auto& attempt : attempts) {
      devices.push_back(attempt.device);
    }
    return devices;
  }

  const std::string& run() const { return request_.context.run.id; }
  bool is_finished() { return bench_.store->get_run(run()).value().finished_unix_ns != 0; }

  CampaignBench bench_{complete_on_fleet};
  CampaignRequest request_;
  std::unique_ptr<ArtifactStore> artifacts_ =
      open_artifact_store((bench_.folder.path() / "artifacts").string(), {}).value();
  ArtifactCache far_cache_{bench_.folder.path() / "far"};
  ScriptedExecutor executor_{bench_.folder.path() / "parts", *artifacts_, far_cache_,
                             bench_.listener};
};

TEST_F(RunOnFleet, TakesInEveryCaseOnce) {
  const auto end = drive();
  ASSERT_TRUE(end.has_value()) << end.error().message;
  EXPECT_THAT(devices_of_attempts(), ElementsAre("d1", "d1"));
  EXPECT_THAT(bench_.launches_of_run(run()), SizeIs(4));
  EXPECT_THAT(bench_.store->cases_of_run(run()).value(), SizeIs(2));
  EXPECT_TRUE(is_finished());
  EXPECT_THAT(executor_.forgotten, SizeIs(2));
}

TEST_F(RunOnFleet, BringsProgramsByDigest) {
  ASSERT_TRUE(drive().has_value());
  const auto& artifact = executor_.submitted.front().prepared.front().artifact;
  ASSERT_TRUE(artifact.has_value());
  // The device has read another file than the driver's.
  bool is_brought = false;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder() / "far")) {
    is_brought = is_brought || entry.path().filename() == artifact->entry;
  }
  EXPECT_TRUE(is_brought);
}

TEST_F(RunOnFleet, KeepsASecondExecutionAndCountsOne) {
  executor_.times = 2;
  const auto end = drive();
  ASSERT_TRUE(end.has_value()) << end.error().message;
  // The last job ends the driver's wait, so its second part may come later.
  EXPECT_GE(end->late, 1);
  EXPECT_THAT(bench_.launches_of_run(run()), SizeIs(4));
  EXPECT_THAT(bench_.store->cases_of_run(run()).value(), SizeIs(2));
  const auto executions = bench_.store->executions_of_run(run()).value();
  EXPECT_GE(executions.size(), 3U);
  EXPECT_EQ(std::ranges::count(executions, true, &JobExecution::is_counted), 2);
}

TEST_F(RunOnFleet, TriesAgainWhatWasLost) {
  executor_.loses = [](const FleetJob& job) { return job.n == 0; };
  const auto end = drive();
  ASSERT_TRUE(end.has_value()) << end.error().message;
  EXPECT_THAT(executor_.submitted, SizeIs(4));
  EXPECT_THAT(end->open, IsEmpty());
  EXPECT_THAT(bench_.store->executions_of_run(run()).value(),
              testing::Each(testing::Field(&JobExecution::n, 1)));
  EXPECT_TRUE(is_finished());
}

TEST_F(RunOnFleet, ADeviceThatIsNotReadyMakesNoPart) {
  ASSERT_TRUE(drive().has_value());
  std::filesystem::remove_all(folder() / "parts");
  std::filesystem::create_directory(folder() / "parts");
  executor_.launches = [](const LaunchRequest& /*request*/, int /*launch*/) {
    return Result<LaunchResult>(failed_launch({.outcome = Outcome::kSkipped,
                                               .stage = Stage::kStart,
                                               .reason_code = kDeviceNotReady,
                                               .text = "61 °C, must be below 45"}));
  };
  const auto part = executor_.execute(executor_.submitted.front(), "hot");
  ASSERT_FALSE(part.has_value());
  EXPECT_EQ(part.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(part.error().message, HasSubstr("61 °C"));
  EXPECT_TRUE(std::filesystem::is_empty(folder() / "parts"));
}

TEST_F(RunOnFleet, AFailureOfADeviceThatIsIllMakesNoPart) {
  int asked = 0;
  executor_.health = [&asked]() -> Status {
    ++asked;
    return fail(ErrorCode::kUnavailable, "the canary crashed");
  };
  ASSERT_TRUE(drive().has_value());
  EXPECT_EQ(asked, 0) << "nothing failed";
  std::filesystem::remove_all(folder() / "parts");
  std::filesystem::create_directory(folder() / "parts");
  executor_.launches = [](const LaunchRequest& /*request*/, int /*launch*/) {
    return Result<LaunchResult>(failed_launch({.outcome = Outcome::kCrashed, .text = "SIGSEGV"}));
  };
  const auto& job = executor_.submitted.front();
  const auto ill = executor_.execute(job, "ill");
  ASSERT_FALSE(ill.has_value());
  EXPECT_EQ(ill.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(ill.error().message, HasSubstr("the canary crashed"));
  EXPECT_TRUE(std::filesystem::is_empty(folder() / "parts"));
  executor_.health = [] { return Status(); };
  EXPECT_TRUE(executor_.execute(job, "well").has_value()) << "it is the case that crashes";
}

TEST_F(RunOnFleet, LeavesACaseOpenThatIsAlwaysLostAndResumesIt) {
  executor_.loses = [](const FleetJob& job) { return job.label.starts_with("one"); };
  const auto end = drive();
  ASSERT_TRUE(end.has_value()) << end.error().message;
  ASSERT_THAT(end->open, SizeIs(1));
  EXPECT_THAT(end->open.front().why, HasSubstr("gone"));
  EXPECT_FALSE(is_finished());
  executor_.loses = nullptr;
  executor_.submitted.clear();
  request_.context.is_resumed = true;
  ASSERT_TRUE(drive().has_value());
  EXPECT_THAT(executor_.submitted, SizeIs(1));
  EXPECT_TRUE(is_finished());
  EXPECT_THAT(bench_.launches_of_run(run()), SizeIs(4));
}

TEST_F(RunOnFleet, DoesNotWaitForWhatWasTakenBack) {
  executor_.is_cancelled = true;
  const auto end = drive();
  ASSERT_TRUE(end.has_value()) << end.error().message;
  ASSERT_THAT(end->open, SizeIs(2));
  EXPECT_THAT(end->open.front().why, HasSubstr("assay fleet cancel"));
  EXPECT_FALSE(is_finished());
  executor_.is_cancelled = false;
  request_.context.is_resumed = true;
  ASSERT_TRUE(drive().has_value());
  EXPECT_TRUE(is_finished());
}

TEST_F(RunOnFleet, TakesAnExecutorThatEndsWithItsDriverForAStop) {
  const auto crash = []() -> Status { return fail(ErrorCode::kCrashed, "assay.fleet.x ended"); };
  executor_.ends = crash;
  EXPECT_EQ(drive().error().code, ErrorCode::kCrashed);
  executor_.ends = [&] {  // Control-C, which the terminal sends to all of them.
    bench_.listener.stop_after = 0;
    return crash();
  };
  request_.context.is_resumed = true;
  const auto end = drive();
  ASSERT_TRUE(end.has_value()) << end.error().message;
  EXPECT_TRUE(end->is_stopped);
  EXPECT_EQ(end->waiting, 2);
}

TEST_F(RunOnFleet, GoesOnBehindTheTriesThatAnEarlierDriverLost) {
  executor_.loses = [](const FleetJob& job) { return job.label.starts_with("one"); };
  ASSERT_TRUE(drive().has_value());
  executor_.submitted.clear();
  request_.context.is_resumed = true;
  const auto again = drive();
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_THAT(again->open, SizeIs(1));
  std::vector<int> tries;
  std::ranges::transform(executor_.submitted, std::back_inserter(tries), &FleetJob::n);
  EXPECT_THAT(tries, ElementsAre(3, 4, 5)) << "each driver makes three of its own";
  executor_.loses = nullptr;
  ASSERT_TRUE(drive().has_value());
  EXPECT_TRUE(is_finished());
}

TEST_F(RunOnFleet, NamesADeviceThatWasLostAndTheOneThatExecuted) {
  executor_.silent = "d0";
  const auto end = drive();
  ASSERT_TRUE(end.has_value()) << end.error().message;
  const auto lost = lost_executions_of_run(*bench_.store, run()).value();
  ASSERT_THAT(lost, SizeIs(1));
  EXPECT_EQ(lost.front().device, "d0");
  EXPECT_EQ(lost.front().label, executor_.submitted.front().label);
  const auto summary =
      summarize_run(*bench_.store, bench_.store->get_run(run()).value(), {}).value();
  int noted = 0;
  for (const auto& cell : summary.cases) {
    for (const auto& note : cell.notes) {
      noted +=
          note == "d0 was lost while it executed this (no sign of life for 4 s); d1 executed it";
    }
  }
  EXPECT_EQ(noted, 1);
  EXPECT_THAT(bench_.listener.notes, testing::Contains(HasSubstr("d0 was lost while it executed")));
}

TEST_F(RunOnFleet, KeepsADeviceThatCameBackOutOfThoseThatWereLost) {
  executor_.silent = "d0";
  ASSERT_TRUE(drive().has_value());
  const auto& job = executor_.submitted.front();
  ASSERT_TRUE(take_in_part(executor_.execute(job, "d0").value(), *bench_.store).has_value());
  EXPECT_THAT(lost_executions_of_run(*bench_.store, run()).value(), IsEmpty());
}

TEST_F(RunOnFleet, MergesPartsInAnyOrderToTheSameResult) {
  ASSERT_TRUE(drive().has_value());
  const auto& job = executor_.submitted.front();
  std::filesystem::create_directories(folder() / "again");
  const auto first = executor_.execute(job, "x").value();
  const auto second = executor_.execute(job, "y").value();
  EXPECT_NE(first, second);
  std::vector<std::vector<std::string>> counted;
  for (const auto& order : {std::vector{first, second}, std::vector{second, first}}) {
    const auto store = make_memory_store();
    for (const auto& part : order) {
      ASSERT_TRUE(store->merge_from(part.string()).has_value());
    }
    auto& devices = counted.emplace_back();
    const auto attempts = store->attempts_of_run(run()).value();
    for (const auto& attempt : attempts) {
      devices.push_back(attempt.device);
    }
    EXPECT_THAT(store->cases_of_run(run()).value(), SizeIs(1));
  }
  EXPECT_THAT(counted.front(), ElementsAre("x"));  // It finished first.
  EXPECT_EQ(counted.front(), counted.back());
}

TEST_F(RunOnFleet, KeepsALateResultOfAFinishedRunOutOfIt) {
  ASSERT_TRUE(drive().has_value());
  const auto before = devices_of_attempts();
  const auto late = executor_.execute(executor_.submitted.front(), "late").value();
  const auto executions = take_in_part(late, *bench_.store);
  ASSERT_TRUE(executions.has_value()) << executions.error().message;
  EXPECT_FALSE(executions->front().is_counted);
  EXPECT_EQ(devices_of_attempts(), before);
  EXPECT_THAT(bench_.store->executions_of_run(run()).value(), SizeIs(3));
}

TEST_F(RunOnFleet, SaysThatTheArtifactStoreIsNoFolder) {
  ASSERT_TRUE(write_file_atomically(folder() / "file", "x"));
  const auto store = open_artifact_store((folder() / "file").string(), {}).value();
  const auto put = store->put(folder() / "file", "abcdef");
  ASSERT_FALSE(put.has_value());
  EXPECT_EQ(put.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(put.error().message, HasSubstr("artifact store"));
}

/// Side B, the second program, takes a tenth longer.
Result<LaunchResult> slower_second(const LaunchRequest& request, int launch) {
  constexpr std::int64_t kBaseNs = 1'000'000;
  const std::int64_t noise_ns = (launch * 7919 + launch * launch * 31) % 1009;
  return timed_result(request,
                      kBaseNs + (program_of(request) == "two" ? kBaseNs / 10 : 0) + noise_ns);
}

class CompareOnFleet : public RunOnFleet {
 protected:
  CompareOnFleet() { executor_.launches = slower_second; }

  Result<Comparison> compare() {
    const FleetCampaigns campaigns{
        .executor = std::shared_ptr<Executor>(&executor_, [](Executor*) {}),
        .artifacts = std::shared_ptr<ArtifactStore>(artifacts_.get(), [](ArtifactStore*) {}),
        .device = {.name = {}, .device_class = "test"},
        .artifact_store = (folder() / "artifacts").string()};
    return campaigns.compare(
        {.context = request_.context, .a = request_.cases.front(), .b = request_.cases.back()}, {},
        bench_.tools());
  }

  std::vector<Comparison> stored() { return bench_.store->comparisons_of_run(run()).value(); }
};

TEST_F(CompareOnFleet, OneDeviceMakesAllPairs) {
  const auto comparison = compare();
  ASSERT_TRUE(comparison.has_value()) << comparison.error().message;
  EXPECT_EQ(comparison->verdict, ComparisonVerdict::kSlower) << comparison->text;
  EXPECT_TRUE(comparison->is_confirmed);
  EXPECT_THAT(executor_.submitted, SizeIs(1));
  EXPECT_THAT(devices_of_attempts(), ElementsAre("d1", "d1"));
  EXPECT_THAT(stored(), SizeIs(1)) << "the plan of the driver is not shown beside it";
  EXPECT_TRUE(is_finished());
}

TEST_F(CompareOnFleet, CountsOneOfTwoExecutions) {
  executor_.times = 2;
  const auto comparison = compare();
  ASSERT_TRUE(comparison.has_value()) << comparison.error().message;
  const auto late = executor_.execute(executor_.submitted.front(), "late").value();
  ASSERT_TRUE(take_in_part(late, *bench_.store).has_value());
  ASSERT_THAT(stored(), SizeIs(1));
  EXPECT_EQ(stored().front().id, comparison->id);
  EXPECT_THAT(devices_of_attempts(), SizeIs(2));
}

TEST_F(CompareOnFleet, ResumesOneWhoseDevicesWereLost) {
  executor_.loses = [](const FleetJob&) { return true; };
  const auto lost = compare();
  ASSERT_FALSE(lost.has_value());
  EXPECT_EQ(lost.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(lost.error().message, HasSubstr("gone"));
  EXPECT_EQ(find_unfinished_comparison(*bench_.store, run()).value().plan.metric,
            "steady_floor_ns");
  executor_.loses = nullptr;
  request_.context.is_resumed = true;
  const auto comparison = compare();
  ASSERT_TRUE(comparison.has_value()) << comparison.error().message;
  EXPECT_EQ(comparison->verdict, ComparisonVerdict::kSlower);
  EXPECT_TRUE(is_finished());
}

TEST_F(CompareOnFleet, ASideWithoutAProgramIsToldBeforeAnythingIsSubmitted) {
  request_.cases.back().recipe.runtime_unavailable = "needs a phone";
  const auto refused = compare();
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("needs a phone"));
  EXPECT_THAT(executor_.submitted, IsEmpty());
}

TEST_F(RunOnFleet, RefusesAJobForAnotherClassOrBuild) {
  ASSERT_TRUE(drive().has_value());
  auto job = executor_.submitted.front();
  job.device.device_class = "other";
  EXPECT_EQ(executor_.execute(job, "d1").error().code, ErrorCode::kUnsupported);
  job = executor_.submitted.front();
  job.builds.front().build_id = "newer";
  const auto refused = executor_.execute(job, "d1");
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("fake@1"));
}

}  // namespace
}  // namespace assay
