#include "assay/measure/leak_check.h"

#include <cstdint>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <optional>

#include "assay/measure/testing/scripted_session.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A process in which a load costs 1000 bytes and an inference 10; malloc holds all of it.
class LeakCheckTest : public testing::Test {
 protected:
  MemoryProbe probe() {
    return {.read_stage = {},
            .read_allocations = [this]() -> std::optional<AllocationCounts> {
              return AllocationCounts{.live_bytes = held()};
            },
            .read_private_dirty_bytes = [this]() -> Result<std::int64_t> { return held() + 4096; }};
  }
  SessionLoader loader() {
    return [this]() -> Result<std::unique_ptr<Session>> {
      finish_session();
      ++loads_;
      auto session = std::make_unique<ScriptedSession>();
      session->is_destroyed = &is_destroyed_;
      session->execute_counter = &inferences_;
      is_destroyed_ = false;
      return session;
    };
  }
  void finish_session() { was_destroyed_ = was_destroyed_ && (loads_ == 0 || is_destroyed_); }
  [[nodiscard]] std::int64_t held() const { return loads_ * 1000 + inferences_ * 10; }

  int loads_ = 0;
  int inferences_ = 0;
  bool is_destroyed_ = true;
  bool was_destroyed_ = true;
};

TEST_F(LeakCheckTest, ReadsAfterEachInferenceOfOneSession) {
  const auto series = check_leaks({.inferences = 3}, loader(), {}, probe());
  ASSERT_TRUE(series) << series.error().message;
  ASSERT_EQ(series->size(), 1U);
  EXPECT_EQ(series->front().cycle, "inference");
  EXPECT_EQ(series->front().inferences, 1);
  EXPECT_EQ(series->front().stopped_by, "count");
  EXPECT_THAT(series->front().malloc_live_bytes, ElementsAre(1010, 1020, 1030));
  EXPECT_THAT(series->front().private_dirty_bytes, ElementsAre(5106, 5116, 5126));
}

TEST_F(LeakCheckTest, LoadsInfersAndUnloadsInEachCycle) {
  const auto series = check_leaks({.loads = 3}, loader(), {}, probe());
  ASSERT_TRUE(series) << series.error().message;
  EXPECT_EQ(series->front().cycle, "load");
  EXPECT_EQ(series->front().inferences, 2);
  EXPECT_THAT(series->front().malloc_live_bytes, ElementsAre(1020, 2040, 3060));
  EXPECT_TRUE(is_destroyed_);
  EXPECT_TRUE(was_destroyed_);
}

TEST_F(LeakCheckTest, LeavesMallocOutWhereItIsNotCounted) {
  auto uncounted = probe();
  uncounted.read_allocations = [] { return std::optional<AllocationCounts>(); };
  const auto series = check_leaks({.inferences = 3}, loader(), {}, uncounted);
  ASSERT_TRUE(series);
  EXPECT_TRUE(series->front().malloc_live_bytes.empty());
  EXPECT_EQ(series->front().private_dirty_bytes.size(), 3U);
}

TEST_F(LeakCheckTest, StopsWhenItsBudgetIsSpent) {
  const auto series =
      check_leaks({.inferences = 1'000'000, .time_budget_ns = 1}, loader(), {}, probe());
  ASSERT_TRUE(series);
  EXPECT_EQ(series->front().stopped_by, "time_budget");
  EXPECT_EQ(series->front().malloc_live_bytes.size(), 1U);
}

TEST_F(LeakCheckTest, HandsOnWhatTheLoaderReturns) {
  const auto series = check_leaks(
      {.loads = 2},
      []() -> Result<std::unique_ptr<Session>> {
        return fail(ErrorCode::kEngine, "the second load fails");
      },
      {}, probe());
  ASSERT_FALSE(series);
  EXPECT_THAT(series.error().message, HasSubstr("second load"));
}

}  // namespace
}  // namespace assay
