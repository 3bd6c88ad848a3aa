#include "assay/measure/self_timed.h"

#include <cstdint>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/result.h"
#include "assay/engine/session.h"
#include "assay/measure/measure.h"
#include "assay/measure/testing/scripted_session.h"
#include "assay/record/axes.h"
#include "assay/record/launch.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Tells the times that it is given, after a start that takes long.
class SelfTimedSession final : public ScriptedSession, public SelfTimer {
 public:
  Times told{};
  int rows = 0;
  int fail_at_row = -1;

  Result<Times> time_inferences(const Row& /*row*/) override {
    constexpr std::int64_t kStartNs = 5'000'000;
    const auto end_ns = monotonic_ns() + kStartNs;
    while (monotonic_ns() < end_ns) {
    }
    return ++rows == fail_at_row ? Result<Times>(fail(ErrorCode::kEngine, "worn out"))
                                 : Result<Times>(told);
  }
  void* find_extension(std::string_view tag) override {
    return tag == SelfTimer::kTag ? static_cast<SelfTimer*>(this) : nullptr;
  }
};

TEST(SelfTimed, CountsItsToldTimesAndNotItsStart) {
  SelfTimedSession session;
  session.told = {.told = TimesTold::kAll, .ns = {900, 100, 200, 300}, .clock_resolution_ns = 100};
  const MeasurePlan plan{.warmup_iterations = 1, .iterations = 2};
  const auto measured = measure(session, {}, plan, {}).value();
  EXPECT_EQ(measured.first.execute_ns, 900);
  EXPECT_THAT(measured.samples.execute_ns, ElementsAre(100, 200, 300));
  EXPECT_EQ(measured.inferences, 3);
  EXPECT_EQ(measured.inferences_ns, 600) << "one over the mean is the throughput";
  EXPECT_GE(measured.wall_ns, 5'000'000);
}

TEST(SelfTimed, HasNoThroughputWhereNoTimesAreTold) {
  SelfTimedSession session;
  session.told = {.told = TimesTold::kNone, .metrics = {{.name = "p99", .unit = "ns", .value = 3}}};
  const auto measured = measure(session, {}, {.warmup_iterations = 0, .iterations = 4}, {}).value();
  EXPECT_THAT(measured.samples.execute_ns, IsEmpty());
  EXPECT_EQ(measured.inferences_ns, 0);
}

TEST(SelfTimed, IsAtWorkWhenItHasBegun) {
  SelfTimedSession session;
  session.told = {.told = TimesTold::kSteady, .ns = {5}};
  std::vector<std::pair<Stage, int>> heard;
  const auto listener = [&](Stage stage) { heard.emplace_back(stage, session.rows); };
  ASSERT_TRUE(measure(session, {}, {.iterations = 1}, listener));
  EXPECT_THAT(heard, ElementsAre(std::pair(Stage::kFirst, 0), std::pair(Stage::kSteady, 0)));
}

TEST(SelfTimed, TakesNoDurationUnlessItIsWithoutEnd) {
  SelfTimedSession session;
  session.told = {.told = TimesTold::kSteady, .ns = {5}};
  session.fail_at_row = 3;
  EXPECT_EQ(measure(session, {}, {.duration_ns = 1'000}, {}).error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(measure(session, {}, {.duration_ns = kEndlessNs}, {}).error().message, "worn out");
  EXPECT_EQ(session.rows, 3);
}

}  // namespace
}  // namespace assay
