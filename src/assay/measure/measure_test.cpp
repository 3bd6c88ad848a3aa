#include "assay/measure/measure.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sched.h>

#include "assay/base/clock.h"
#include "assay/base/result.h"
#include "assay/device/thread_times.h"
#include "assay/engine/session.h"
#include "assay/measure/testing/scripted_session.h"
#include "assay/record/axes.h"
#include "assay/record/launch.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Measure, TimesBindExecuteFetchInThisOrderForEveryInference) {
  ScriptedSession session;
  const auto result =
      measure(session, {}, {.warmup_iterations = 1, .iterations = 1, .min_iterations = 1}, {});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(session.calls, ElementsAre("bind", "execute", "fetch", "bind", "execute", "fetch",
                                         "bind", "execute", "fetch"));
}

TEST(Measure, CountsWarmUpAndSteadyIterationsApartFromTheFirst) {
  ScriptedSession session;
  const auto result = measure(session, {}, {.warmup_iterations = 4, .iterations = 7}, {});
  ASSERT_TRUE(result);
  EXPECT_EQ(session.executes, 12);
  EXPECT_EQ(result->warmup_iterations, 4);
  EXPECT_EQ(result->iterations, 7);
  EXPECT_EQ(result->stopped_by, "count");
  EXPECT_EQ(result->samples.bind_ns.size(), 11U);
  EXPECT_EQ(result->samples.execute_ns.size(), 11U);
  EXPECT_EQ(result->samples.fetch_ns.size(), 11U);
}

TEST(Measure, ChargesTheTimeOfExecuteToExecute) {
  ScriptedSession session;
  session.execute_ns = 200'000;
  const auto result = measure(session, {}, {.warmup_iterations = 0, .iterations = 5}, {});
  ASSERT_TRUE(result);
  EXPECT_GE(result->first.execute_ns, 200'000);
  EXPECT_GE(std::ranges::min(result->samples.execute_ns), 200'000);
  EXPECT_GE(result->wall_ns, 5 * 200'000);
  EXPECT_GT(result->cpu_ns, 0);  // Not 5 * 200 us: whoever spins may be preempted.
  EXPECT_LT(std::ranges::min(result->samples.bind_ns), 200'000);
}

/// Does nothing, as fast as can be.
class IdleSession : public Session {
 public:
  [[nodiscard]] const LoadReport& report() const override { return report_; }
  Status bind(std::span<const TensorView> /*inputs*/) override { return {}; }
  Status execute() override {
    ++executes;
    return {};
  }
  Result<std::span<const TensorView>> fetch() override { return std::span<const TensorView>{}; }
  Status reset_state() override { return {}; }

  std::int64_t executes = 0;

 private:
  LoadReport report_;
};

TEST(Measure, GoesOnForADurationAndKeepsAsManySamplesAsThereIsRoomFor) {
  constexpr std::int64_t kDurationNs = 1'000'000'000;
  IdleSession session;
  const auto result = measure(session, {},
                              {.warmup_iterations = 10,
                               .iterations = 5,
                               .detects_warmup = true,
                               .duration_ns = kDurationNs},
                              {});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->stopped_by, "duration");
  EXPECT_EQ(result->duration_ns, kDurationNs);
  EXPECT_GE(result->inferences_ns, kDurationNs);
  EXPECT_EQ(result->warmup_iterations, 0);
  EXPECT_FALSE(result->detects_warmup);
  EXPECT_EQ(result->inferences + 1, session.executes) << "the first one is apart";
  EXPECT_LE(result->iterations, kMostSustainedSamples);
  EXPECT_EQ(result->samples.execute_ns.size(), static_cast<std::size_t>(result->iterations));
  // Each stride-th from the first on, however often the columns were thinned out.
  EXPECT_EQ(result->iterations, (result->inferences + result->stride - 1) / result->stride);
}

TEST(Measure, TellsBeginAndEndOnTheClockOfOtherProcesses) {
  ScriptedSession session;
  session.execute_ns = 200'000;
  const auto before_ns = boottime_ns();
  const auto result = measure(session, {}, {.warmup_iterations = 0, .iterations = 5}, {});
  ASSERT_TRUE(result);
  EXPECT_GE(result->begin_ns, before_ns);
  EXPECT_LE(result->end_ns, boottime_ns());
  EXPECT_GE(result->end_ns - result->begin_ns, 5 * 190'000);
}

TEST(Measure, TellsItsGap) {
  ScriptedSession session;
  const auto result =
      measure(session, {}, {.warmup_iterations = 0, .iterations = 2, .gap_ns = 1'000}, {});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->gap_ns, 1'000);
}

/// While it lives, this thread and a second one that never rests share one processor.
class SharedProcessor {
 public:
  SharedProcessor() {
    ::sched_getaffinity(0, sizeof(before_), &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(::sched_getcpu(), &one);
    ::sched_setaffinity(0, sizeof(one), &one);
    rival_ = std::jthread([](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
      }
    });
  }
  SharedProcessor(const SharedProcessor&) = delete;
  SharedProcessor& operator=(const SharedProcessor&) = delete;
  ~SharedProcessor() { ::sched_setaffinity(0, sizeof(before_), &before_); }

 private:
  cpu_set_t before_{};
  std::jthread rival_;
};

TEST(Measure, TellsHowLongItsThreadsWaitedForAProcessor) {
  if (!read_thread_times()) {
    GTEST_SKIP() << "this kernel does not count how long threads wait";
  }
  const SharedProcessor processor;
  ScriptedSession session;
  session.execute_ns = 30'000'000;  // Several turns of the scheduler.
  const auto result = measure(session, {}, {.warmup_iterations = 0, .iterations = 2}, {});
  ASSERT_TRUE(result);
  // At any time one of the two threads waits, or both.
  EXPECT_GT(result->run_queue_wait_ns.value_or(0), 0);
  EXPECT_LE(result->run_queue_wait_ns.value_or(0), 2 * result->wall_ns);
}

TEST(Measure, TellsTheThreadsThatComputeOnlyWhereTheRunIsLongEnough) {
  if (!read_thread_times()) {
    GTEST_SKIP() << "this kernel does not count the time of threads";
  }
  ScriptedSession session;
  session.execute_ns = 25'000'000;
  const auto longer = measure(session, {}, {.warmup_iterations = 0, .iterations = 2}, {});
  ASSERT_TRUE(longer);
  EXPECT_TRUE(longer->busy_threads.value_or(0) == 1 || longer->cpu_ns < 20'000'000)
      << "other work may take the processor";
  session.execute_ns = 0;
  const auto shorter = measure(session, {}, {.warmup_iterations = 0, .iterations = 2}, {});
  ASSERT_TRUE(shorter);
  EXPECT_TRUE(!shorter->busy_threads || shorter->cpu_ns >= 20'000'000);
}

TEST(Measure, TakesOneSeriesWhereWarmUpIsDetected) {
  ScriptedSession session;
  const MeasurePlan plan{.warmup_iterations = 4, .iterations = 7, .detects_warmup = true};
  const auto result = measure(session, {}, plan, {});
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->detects_warmup);
  EXPECT_EQ(result->warmup_iterations, 0);
  EXPECT_EQ(result->iterations, 11);
  EXPECT_EQ(result->stopped_by, "count");
  EXPECT_EQ(result->samples.execute_ns.size(), 11U);
}

TEST(Measure, StopsAtTheBudgetButDoesTheMinimum) {
  ScriptedSession session;
  session.execute_ns = 1'000'000;
  const MeasurePlan plan{
      .warmup_iterations = 10, .iterations = 1000, .min_iterations = 3, .time_budget_ns = 1'000};
  const auto result = measure(session, {}, plan, {});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->warmup_iterations, 1);
  EXPECT_EQ(result->iterations, 3);
  EXPECT_EQ(result->stopped_by, "time_budget");
  EXPECT_EQ(result->samples.execute_ns.size(), 4U);
}

TEST(Measure, LeavesMostOfTheBudgetToTheSteadyPart) {
  ScriptedSession session;
  session.execute_ns = 1'000'000;
  const MeasurePlan plan{.warmup_iterations = 500,
                         .iterations = 500,
                         .min_iterations = 1,
                         .time_budget_ns = 40'000'000};
  const auto result = measure(session, {}, plan, {});
  ASSERT_TRUE(result);
  EXPECT_LE(result->warmup_iterations, 20);
  EXPECT_GE(result->iterations, 1);
}

TEST(Measure, PausesBetweenInferencesOutsideTheTimedRegion) {
  ScriptedSession session;
  const MeasurePlan plan{.warmup_iterations = 0, .iterations = 4, .gap_ns = 1'000'000};
  const auto result = measure(session, {}, plan, {});
  ASSERT_TRUE(result);
  EXPECT_GE(result->wall_ns, 4 * 1'000'000);
  EXPECT_LT(std::ranges::min(result->samples.execute_ns), 1'000'000);
}

TEST(Measure, TellsStagesBeforeTheFirstAndAfterIt) {
  ScriptedSession session;
  std::vector<std::pair<Stage, int>> heard;
  ASSERT_TRUE(measure(session, {}, {.iterations = 3},
                      [&](Stage stage) { heard.emplace_back(stage, session.executes); }));
  EXPECT_THAT(heard, ElementsAre(std::pair(Stage::kFirst, 0), std::pair(Stage::kSteady, 1)));
}

TEST(Measure, HandsOnAFailureWithTheNumberOfTheInference) {
  for (const int failing : {1, 2, 9}) {
    ScriptedSession session;
    session.fail_at_execute = failing;
    const auto result = measure(session, {}, {.warmup_iterations = 5, .iterations = 5}, {});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::kEngine);
    EXPECT_EQ(result.error().message,
              "inference " + std::to_string(failing) + ": scripted failure");
    EXPECT_EQ(session.calls.back(), "execute");
  }
}

TEST(Measure, RefusesPlansThatMakeNoSense) {
  ScriptedSession session;
  for (const int iterations : {0, 100'000'000}) {
    const auto result = measure(session, {}, {.iterations = iterations}, {});
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().message, HasSubstr(std::to_string(iterations) + " steady"));
  }
}

TEST(Measure, RefusesNegativeFieldsByName) {
  ScriptedSession session;
  const auto result = measure(session, {}, {.gap_ns = -1}, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(result.error().message, HasSubstr("gap_ns is -1"));
  EXPECT_TRUE(session.calls.empty());
}

TEST(Measure, ReportsWhatItsOwnClockCosts) {
  ScriptedSession session;
  const auto result = measure(session, {}, {}, {});
  ASSERT_TRUE(result);
  EXPECT_GT(result->clock_resolution_ns, 0);
  EXPECT_GT(result->timer_cost_ns, 0);
}

/// Writes down what it is asked to do, and clears up.
class TidySession final : public ScriptedSession, public Upkeep {
 public:
  void clear_up() override { calls.emplace_back("clear up"); }
  void* find_extension(std::string_view tag) override {
    return tag == Upkeep::kTag ? static_cast<Upkeep*>(this) : nullptr;
  }
};

TEST(Measure, ClearsUpBetweenInferences) {
  TidySession session;
  ASSERT_TRUE(measure(session, {}, {.warmup_iterations = 1, .iterations = 1}, {}));
  EXPECT_THAT(session.calls,
              testing::ElementsAre("bind", "execute", "fetch", "clear up", "bind", "execute",
                                   "fetch", "clear up", "bind", "execute", "fetch"));
}

/// Refuses in the middle of an inference what it should have refused at load.
class LateRefusal final : public ScriptedSession {
 public:
  Status execute() override { return fail(ErrorCode::kUnsupported, "not supported"); }
};

TEST(Measure, TakesARefusalInTheMiddleOfAnInferenceForAFault) {
  LateRefusal session;
  EXPECT_EQ(measure(session, {}, {.iterations = 1}, {}).error().code, ErrorCode::kEngine);
  EXPECT_EQ(infer_once(session, {}).error().code, ErrorCode::kEngine);
}

TEST(Measure, WithoutAnEndInfersUntilItFailsAndKeepsNothing) {
  ScriptedSession session;
  session.fail_at_execute = 5'000;
  std::vector<Stage> stages;
  const auto measured = measure(session, {}, {.duration_ns = kEndlessNs},
                                [&stages](Stage stage) { stages.push_back(stage); });
  ASSERT_FALSE(measured);
  EXPECT_EQ(measured.error().message, "scripted failure");
  EXPECT_EQ(session.executes, 5'000);
  EXPECT_THAT(stages, testing::ElementsAre(Stage::kFirst, Stage::kSteady));
  const std::vector<std::string> begin(session.calls.begin(), session.calls.begin() + 4);
  EXPECT_THAT(begin, testing::ElementsAre("bind", "execute", "fetch", "bind"));
}

}  // namespace
}  // namespace assay
