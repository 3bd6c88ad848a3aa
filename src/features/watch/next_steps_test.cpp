#include "features/watch/next_steps.h"

#include <cstddef>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace assay::watch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Revisions "r1" … by position, from one letter each: "." open, "m" measured, "f" failed.
WatchState state_from(const std::string& letters) {
  WatchState state;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    state.revisions.push_back({.hash = fmt::format("r{}", i + 1),
                               .position = static_cast<int>(i) + 1,
                               .progress = letters[i] == 'm'   ? Progress::kMeasured
                                           : letters[i] == 'f' ? Progress::kFailed
                                                               : Progress::kOpen});
  }
  return state;
}

std::vector<std::string> order_of(const WatchState& state, int step, std::size_t most = 100) {
  std::vector<std::string> order;
  for (const auto& next : plan_steps(state, step, 0.5, most)) {
    order.push_back(next.kind == StepKind::kMeasure ? next.revision : next.incident);
  }
  return order;
}

TEST(NextSteps, MeasureTheNewestThenTheOldestThenHalveTheGaps) {
  EXPECT_THAT(order_of(state_from("........."), 2), ElementsAre("r9", "r1", "r5", "r7", "r3"));
}

TEST(NextSteps, EndWhenNoGapExceedsTheStep) {
  EXPECT_THAT(order_of(state_from("m.m.m"), 2), IsEmpty());
  EXPECT_THAT(order_of(state_from("m.m.m"), 1), ElementsAre("r4", "r2"));
  EXPECT_THAT(order_of(state_from(""), 1), IsEmpty());
}

TEST(NextSteps, PutANewCommitBeforeAllGaps) {
  EXPECT_THAT(order_of(state_from("m.......m."), 1, 1), ElementsAre("r10"));
}

TEST(NextSteps, GoAroundRevisionsThatFailed) {
  EXPECT_THAT(order_of(state_from("m...f...m"), 1, 1), ElementsAre("r6"));
  EXPECT_THAT(order_of(state_from("mff"), 1), IsEmpty());
  EXPECT_THAT(order_of(state_from("m.f"), 1), ElementsAre("r2"));
  EXPECT_THAT(order_of(state_from("fff"), 1), IsEmpty());
}

TEST(NextSteps, PreferSuspiciousGaps) {
  auto state = state_from("m.......m...m");
  state.suspicions = {{.last_before = 9, .first_after = 13, .reason = "bench +4 %"}};
  const auto steps = plan_steps(state, 4, 0.5, 2);
  ASSERT_THAT(steps, SizeIs(2));
  EXPECT_EQ(steps[0].revision, "r11");
  EXPECT_THAT(steps[0].reason, HasSubstr("bench +4 %"));
}

TEST(NextSteps, VerifyFirstUnlessThatTookItsShare) {
  auto state = state_from("m..");
  state.incidents = {{.id = "a", .reason = "+5 %"},
                     {.id = "b", .reason = "+2 %", .is_confirmed = true}};
  EXPECT_THAT(order_of(state, 1), ElementsAre("a", "b", "r3", "r2"));
  EXPECT_EQ(plan_steps(state, 1, 0.5, 2)[1].kind, StepKind::kBisect);
  state.verification_share = 0.6;
  EXPECT_THAT(order_of(state, 1), ElementsAre("r3", "r2", "a", "b"));
  EXPECT_THAT(order_of(state, 1, 3), ElementsAre("r3", "r2", "a"));
}

TEST(NextSteps, LookASecondTimeWhenAllIsMeasured) {
  auto state = state_from("m.m");
  state.revisions[0].needs_second_look = true;
  state.revisions[2].needs_second_look = true;
  EXPECT_THAT(order_of(state, 1), ElementsAre("r2", "r3", "r1"));
}

TEST(NextSteps, ReachEveryRevisionOnce) {
  auto order = order_of(state_from(std::string(100, '.')), 1, 1000);
  EXPECT_THAT(order, SizeIs(100));
  std::ranges::sort(order);
  EXPECT_EQ(std::ranges::adjacent_find(order), order.end());
}

}  // namespace
}  // namespace assay::watch
