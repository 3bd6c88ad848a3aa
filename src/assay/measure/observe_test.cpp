#include "assay/measure/observe.h"

#include <cstdint>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/device/memory_parts.h"
#include "assay/measure/testing/scripted_session.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

MemoryStage stage_of(std::string_view name, std::int64_t bytes) {
  return {.name = std::string(name),
          .rss_bytes = bytes,
          .parts = {{"malloc", bytes - 300}, {"unattributed", 300}}};
}

/// Grows by 1000 bytes a reading, which itself takes 50 bytes of malloc; every inference takes 7.
class ObserveMemoryTest : public testing::Test {
 protected:
  MemoryProbe probe() {
    return {.read_stage = [this](std::string_view name,
                                 std::span<const std::string> files) -> Result<MemoryStage> {
              files_.assign(files.begin(), files.end());
              destroyed_at_reading_.push_back(is_destroyed_);
              ++readings_;
              return stage_of(name, 2000 + readings_ * 1000);
            },
            .read_allocations = [this]() -> std::optional<AllocationCounts> {
              return AllocationCounts{.total_bytes = readings_ * 50, .count = inferences_ * 7};
            },
            .read_private_dirty_bytes = []() -> Result<std::int64_t> { return 0; }};
  }

  Result<MemoryReport> observe(int iterations, const StageListener& listener = {}) {
    return observe_with(probe(), iterations, listener);
  }
  Result<MemoryReport> observe_with(const MemoryProbe& probe, int iterations,
                                    const StageListener& listener = {}) {
    session_->is_destroyed = &is_destroyed_;
    session_->execute_counter = &inferences_;
    return observe_memory(std::move(session_), {},
                          {.iterations = iterations,
                           .start = stage_of("start", 1000),
                           .loaded = stage_of("loaded", 2000),
                           .program_files = {"/data/model.pte"}},
                          probe, listener);
  }

  std::unique_ptr<ScriptedSession> session_ = std::make_unique<ScriptedSession>();
  int readings_ = 0;
  int inferences_ = 0;
  bool is_destroyed_ = false;
  std::vector<bool> destroyed_at_reading_;
  std::vector<std::string> files_;
};

TEST_F(ObserveMemoryTest, ReadsAtFiveStagesAndDestroysTheSessionBeforeTheLast) {
  const auto report = observe(4);
  ASSERT_TRUE(report) << report.error().message;
  std::vector<std::string> names;
  for (const auto& stage : report->stages) {
    names.push_back(stage.name);
  }
  EXPECT_THAT(names, ElementsAre("start", "loaded", "first", "steady", "unloaded"));
  EXPECT_THAT(destroyed_at_reading_, ElementsAre(false, false, true));
  EXPECT_THAT(files_, ElementsAre("/data/model.pte"));
  EXPECT_EQ(report->unattributed_bytes, 300);
}

TEST_F(ObserveMemoryTest, SplitsOffWhatTheEngineDeclaresWhileItsSessionLives) {
  session_->has_extensions = true;
  const auto report = observe(1);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->declared.size(), 2U);
  for (std::size_t i = 0; i < report->stages.size(); ++i) {
    const auto& parts = report->stages[i].parts;
    const bool is_alive = i >= 1 && i <= 3;
    EXPECT_EQ(bytes_of_part(parts, "declared.arena"), is_alive ? 100 : 0) << i;
    const auto all = static_cast<std::int64_t>(i + 1) * 1000 - 300;
    EXPECT_EQ(bytes_of_part(parts, is_alive ? "malloc_other" : "malloc"),
              is_alive ? all - 120 : all);
  }
}

TEST_F(ObserveMemoryTest, UsesTheLoadReportWithoutTheirPower) {
  session_->load_report.declared_memory = {{"arena", 500}};
  const auto report = observe(1);
  ASSERT_TRUE(report);
  EXPECT_EQ(bytes_of_part(report->stages.at(3).parts, "declared.arena"), 500);
}

TEST_F(ObserveMemoryTest, TellsWhatAReadingAndWhatTheInferencesAllocate) {
  const auto report = observe(6);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->probe_bytes, 50);
  EXPECT_EQ(report->inferences, 6);
  EXPECT_EQ(report->inference_allocations, 42);
}

TEST_F(ObserveMemoryTest, TellsHowLongItsQuickestReadingTook) {
  constexpr std::int64_t kLeastNs = 200'000;
  auto slow = probe();
  slow.read_stage = [this](std::string_view name, std::span<const std::string>) {
    const auto end_ns = monotonic_ns() + kLeastNs * (readings_ == 0 ? 50 : 1);
    while (monotonic_ns() < end_ns) {
    }
    return Result<MemoryStage>(stage_of(name, 2000 + ++readings_ * 1000));
  };
  const auto before_ns = monotonic_ns();
  const auto report = observe_with(slow, 1);
  const auto all_ns = monotonic_ns() - before_ns;
  ASSERT_TRUE(report);
  EXPECT_EQ(readings_, 3);
  EXPECT_GE(report->probe_ns, kLeastNs);
  EXPECT_LT(report->probe_ns, all_ns - 50 * kLeastNs);  // The first one is not the quickest.
}

TEST_F(ObserveMemoryTest, SaysWhyMallocIsNotCounted) {
  auto uncounted = probe();
  uncounted.read_allocations = [] { return std::optional<AllocationCounts>(); };
  uncounted.allocations_unavailable = "no glibc";
  const auto report = observe_with(uncounted, 1);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->allocations_unavailable, "no glibc");
  EXPECT_FALSE(report->probe_bytes);
  EXPECT_FALSE(report->inference_allocations);
}

TEST_F(ObserveMemoryTest, RunsAsManyInferencesAsAskedAndTellsStages) {
  std::vector<int> executes;
  const auto report = observe(6, [&](Stage stage) {
    EXPECT_NE(stage, Stage::kNone);
    executes.push_back(inferences_);
  });
  ASSERT_TRUE(report);
  EXPECT_THAT(executes, ElementsAre(0, 1, 7));
}

TEST_F(ObserveMemoryTest, HandsOnTheProbesFailure) {
  auto broken = probe();
  broken.read_stage = [](std::string_view, std::span<const std::string>) -> Result<MemoryStage> {
    return fail(ErrorCode::kUnavailable, "no /proc here");
  };
  const auto report = observe_with(broken, 1);
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message, HasSubstr("no /proc here"));
}

}  // namespace
}  // namespace assay
