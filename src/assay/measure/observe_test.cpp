#include "assay/measure/observe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "assay/measure/scripted_session.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Grows by 1000 bytes a reading.
MemoryReader growing_reader(std::int64_t first) {
  return [next = first](std::string_view name) mutable -> Result<MemoryStage> {
    MemoryStage stage{.name = std::string(name), .rss_bytes = next, .private_dirty_bytes = next};
    next += 1000;
    return stage;
  };
}

const MemoryStage kStart{.name = "start", .private_dirty_bytes = 1000};
const MemoryStage kLoaded{.name = "loaded", .private_dirty_bytes = 2000};

std::vector<std::string> names_of(const MemoryReport& report) {
  std::vector<std::string> names;
  for (const auto& stage : report.stages) {
    names.push_back(stage.name);
  }
  return names;
}

TEST(ObserveMemory, ReadsAtFiveStagesAndDestroysTheSessionBeforeTheLast) {
  auto session = std::make_unique<ScriptedSession>();
  bool is_destroyed = false;
  std::vector<bool> destroyed_at_reading;
  session->is_destroyed = &is_destroyed;
  auto grow = growing_reader(3000);
  const MemoryReader reader = [&](std::string_view name) {
    destroyed_at_reading.push_back(is_destroyed);
    return grow(name);
  };
  const auto report = observe_memory(std::move(session), {}, 4, kStart, kLoaded, reader, {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_THAT(names_of(*report), ElementsAre("start", "loaded", "first", "steady", "unloaded"));
  EXPECT_THAT(destroyed_at_reading, ElementsAre(false, false, true));
}

TEST(ObserveMemory, SubtractsWhatTheEngineDeclares) {
  auto session = std::make_unique<ScriptedSession>();
  session->has_powers = true;
  const auto report =
      observe_memory(std::move(session), {}, 1, kStart, kLoaded, growing_reader(3000), {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->declared.size(), 2U);
  EXPECT_EQ(report->unattributed_bytes, 4000 - 1000 - 120);
  EXPECT_GE(report->probe_ns, 0);
  EXPECT_LT(report->probe_ns, 1'000'000'000);
}

TEST(ObserveMemory, UsesTheLoadReportWithoutTheirPower) {
  auto session = std::make_unique<ScriptedSession>();
  session->load_report.declared_memory = {{"arena", 500}};
  const auto report =
      observe_memory(std::move(session), {}, 1, kStart, kLoaded, growing_reader(3000), {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->unattributed_bytes, 4000 - 1000 - 500);
}

TEST(ObserveMemory, RunsAsManyInferencesAsAskedAndTellsStages) {
  auto session = std::make_unique<ScriptedSession>();
  auto* seen = session.get();
  std::vector<int> executes;
  const auto report = observe_memory(std::move(session), {}, 6, kStart, kLoaded, growing_reader(0),
                                     [&](Stage stage) {
                                       EXPECT_NE(stage, Stage::kNone);
                                       executes.push_back(seen->executes);
                                     });
  ASSERT_TRUE(report);
  EXPECT_THAT(executes, ElementsAre(0, 1, 7));
}

TEST(ObserveMemory, HandsOnTheReadersFailure) {
  const MemoryReader reader = [](std::string_view) -> Result<MemoryStage> {
    return fail(ErrorCode::kUnavailable, "no /proc here");
  };
  const auto report =
      observe_memory(std::make_unique<ScriptedSession>(), {}, 1, kStart, kLoaded, reader, {});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().message, "no /proc here");
}

TEST(ObserveProfile, ThrowsTheFirstInferencesAwayAndCountsTheRest) {
  ScriptedSession session;
  session.has_powers = true;
  const auto report = observe_profile(session, {}, 5, {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->iterations, 5);
  EXPECT_EQ(session.executes, 3 + 5);
  EXPECT_EQ(std::ranges::count(session.calls, "start"), 2);
  EXPECT_EQ(session.calls.back(), "stop");
}

TEST(ObserveProfile, StopsTheProfilerWhenAnInferenceFails) {
  ScriptedSession session;
  session.has_powers = true;
  session.fail_at_execute = 5;
  const auto report = observe_profile(session, {}, 5, {});
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message, HasSubstr("scripted failure"));
  EXPECT_EQ(session.calls.back(), "stop");
}

TEST(ObserveProfile, IsUnsupportedWithoutAProfiler) {
  ScriptedSession session;
  EXPECT_EQ(observe_profile(session, {}, 5, {}).error().code, ErrorCode::kUnsupported);
}

TEST(Observe, RefusesZeroIterations) {
  ScriptedSession session;
  session.has_powers = true;
  EXPECT_EQ(observe_profile(session, {}, 0, {}).error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace assay
