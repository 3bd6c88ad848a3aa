#include "assay/measure/observe_profile.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "assay/base/clock.h"
#include "assay/measure/testing/scripted_session.h"

namespace assay {
namespace {

using testing::HasSubstr;

/// Tells one span for each inference of the first two, at times of the clock.
class SpanningSession : public ScriptedSession {
 public:
  SpanningSession() { has_extensions = true; }
  Status execute() override {
    starts_.push_back(monotonic_ns());
    return ScriptedSession::execute();
  }
  Status start() override {
    starts_.clear();
    return ScriptedSession::start();
  }
  Result<ProfileReport> stop(int iterations) override {
    ProfileReport report{.iterations = iterations, .events = {{.name = "all", .kind = "method"}}};
    for (int i = 0; i < std::min(2, iterations); ++i) {
      report.spans.push_back(
          {.iteration = i, .start_ns = starts_[static_cast<std::size_t>(i)], .duration_ns = 1});
    }
    return report;
  }

 private:
  std::vector<std::int64_t> starts_;
};

TEST(ObserveProfile, ThrowsTheFirstInferencesAwayAndCountsTheRestWithoutTheProfiler) {
  ScriptedSession session;
  session.has_extensions = true;
  const auto report = observe_profile(session, {}, {.iterations = 5}, {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->iterations, 5);
  EXPECT_EQ(report->counted_iterations, 5);
  EXPECT_EQ(session.executes, (3 + 5) + (3 + 5));
  const auto stop = std::find(session.calls.rbegin(), session.calls.rend(), "stop");
  EXPECT_EQ(std::count(session.calls.rbegin(), stop, "execute"), 3 + 5);
  EXPECT_EQ(std::ranges::count(session.calls, "start"), 2);
}

TEST(ObserveProfile, TimesInferencesFromTheFirstOneOn) {
  SpanningSession session;
  const auto report = observe_profile(session, {}, {.iterations = 4}, {});
  ASSERT_TRUE(report);
  ASSERT_EQ(report->spans.size(), 2U);
  ASSERT_EQ(report->inferences.size(), 2U);  // Those that spans tell of.
  EXPECT_EQ(report->inferences[0].start_ns, 0);
  for (const auto& span : report->spans) {
    const auto& inference = report->inferences[static_cast<std::size_t>(span.iteration)];
    EXPECT_GE(span.start_ns, inference.start_ns + inference.times.bind_ns);
    EXPECT_LE(span.start_ns,
              inference.start_ns + inference.times.bind_ns + inference.times.execute_ns);
  }
}

TEST(ObserveProfile, StopsAtItsBudgetAfterOneInferenceAtLeast) {
  ScriptedSession session;
  session.has_extensions = true;
  session.execute_ns = 2'000'000;
  const auto report =
      observe_profile(session, {}, {.iterations = 1000, .time_budget_ns = 1'000'000}, {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->iterations, 1);
  EXPECT_GE(report->execute_median_ns, 2'000'000);
}

TEST(ObserveProfile, GivesEachCounterAValueOrAReason) {
  ScriptedSession session;
  session.has_extensions = true;
  const auto report = observe_profile(session, {}, {.iterations = 2}, {});
  ASSERT_TRUE(report);
  EXPECT_THAT(report->counters, testing::Not(testing::IsEmpty()));
  for (const auto& counter : report->counters) {
    EXPECT_EQ(counter.value.has_value(), counter.unavailable.empty()) << counter.name;
  }
}

TEST(ObserveProfile, StopsTheProfilerWhenAnInferenceFails) {
  ScriptedSession session;
  session.has_extensions = true;
  session.fail_at_execute = 5;
  const auto report = observe_profile(session, {}, {.iterations = 5}, {});
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message, HasSubstr("scripted failure"));
  EXPECT_EQ(session.calls.back(), "stop");
}

TEST(ObserveProfile, IsUnsupportedWithoutAProfiler) {
  ScriptedSession session;
  EXPECT_EQ(observe_profile(session, {}, {}, {}).error().code, ErrorCode::kUnsupported);
}

TEST(ObserveProfile, RefusesZeroIterations) {
  ScriptedSession session;
  session.has_extensions = true;
  EXPECT_EQ(observe_profile(session, {}, {.iterations = 0}, {}).error().code,
            ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace assay
