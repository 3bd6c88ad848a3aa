#include "assay/campaign/attempts.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <memory>
#include <string>

#include "assay/base/clock.h"
#include "assay/base/result.h"
#include "assay/base/uuid.h"
#include "assay/campaign/preparation.h"
#include "assay/campaign/stopping.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/conclusion.h"
#include "assay/record/launch.h"
#include "assay/record/run.h"
#include "assay/record/subject.h"
#include "assay/store/result_store.h"

namespace assay {
namespace {

class AttemptsTest : public testing::Test {
 protected:
  void SetUp() override {
    Environment environment;
    environment.id = "e";
    ASSERT_TRUE(store_->add_environment(environment));
    ASSERT_TRUE(store_->add_run({.id = run_, .environment = "e"}));
    prepared_.key = case_key(prepared_.cell);
    prepared_.subject_digest = subject_key(prepared_.subject);
    ASSERT_TRUE(store_->add_case(run_, prepared_.cell));
    ASSERT_TRUE(store_->add_subject(prepared_.subject));
  }

  Attempts attempts(int n = 0) const { return {{.run = run_, .n = n}, plan_, *store_}; }
  Attempts taken_up(int n = 0) const {
    auto found = attempts(n);
    EXPECT_TRUE(found.read());
    return found;
  }
  /// Begins a pass of the case and adds a launch to it.
  Launch launch(Attempts& attempts, Pass pass, Outcome outcome = Outcome::kCompleted) const {
    Launch made{.id = make_uuid7(), .outcome = outcome, .text = "last words"};
    made.measurement = Measurement();
    const auto state = attempts.find_or_begin(prepared_, pass);
    EXPECT_TRUE(state) << state.error().message;
    EXPECT_TRUE(attempts.add_launch(**state, made));
    return made;
  }

  PreparedCase prepared_;
  LaunchPlan plan_{.least = 2, .most = 2};
  std::string run_ = make_uuid7();
  std::unique_ptr<ResultStore> store_ = make_memory_store();
};

TEST_F(AttemptsTest, AreFoundAgainInTheStoreAndThoseOfAnotherTryAreOthers) {
  auto first = attempts(1);
  ASSERT_TRUE(first.find_or_begin(prepared_, Pass::kTiming));
  EXPECT_NE(taken_up(1).find(prepared_, Pass::kTiming), nullptr);
  EXPECT_EQ(taken_up(1).find(prepared_, Pass::kEvaluate), nullptr);
  EXPECT_EQ(taken_up(2).find(prepared_, Pass::kTiming), nullptr);
}

TEST_F(AttemptsTest, NumberLaunchesAfterThoseOfTheStore) {
  auto first = attempts();
  launch(first, Pass::kEvaluate);
  EXPECT_EQ(launch(first, Pass::kTiming).order, 1);
  auto second = taken_up();
  const auto next = launch(second, Pass::kTiming);
  EXPECT_EQ(next.order, 2);
  EXPECT_EQ(next.index, 1);
}

TEST_F(AttemptsTest, AreOpenUntilTheirLaunchesAreMade) {
  auto one = attempts();
  const auto step = [](int index) {
    return ScheduledLaunch{.cell = 0, .pass = Pass::kTiming, .index = index};
  };
  EXPECT_TRUE(one.is_open(prepared_, step(0)));
  launch(one, Pass::kTiming);
  EXPECT_FALSE(one.is_open(prepared_, step(0)));
  EXPECT_TRUE(one.is_open(prepared_, step(1)));
  launch(one, Pass::kTiming);
  EXPECT_TRUE(one.is_open(prepared_, step(2))) << "nobody has decided it yet";
  EXPECT_FALSE(taken_up().is_open(prepared_, step(2))) << "all launches are there";
}

TEST_F(AttemptsTest, WhoseLastLaunchFailedAreDecidedWhenTakenUp) {
  auto first = attempts();
  launch(first, Pass::kTiming, Outcome::kCrashed);
  const auto second = taken_up();
  const auto& attempt = second.find(prepared_, Pass::kTiming)->attempt;
  EXPECT_TRUE(attempt.is_finished);
  EXPECT_EQ(attempt.outcome, Outcome::kCrashed);
  EXPECT_EQ(attempt.text, "last words");
}

TEST_F(AttemptsTest, AreLeasedWhileALaunchMayLastAndNoLonger) {
  constexpr std::int64_t kMinuteNs = 60'000'000'000;
  auto one = attempts();
  auto& state = **one.find_or_begin(prepared_, Pass::kTiming);
  const auto stored = [this] {
    return store_->attempts_of_run(run_).value().front().lease_until_unix_ns;
  };
  EXPECT_EQ(stored(), 0);
  ASSERT_TRUE(one.lease(state, kMinuteNs));
  const auto first = stored();
  EXPECT_GE(first, unix_time_ns() + kMinuteNs);
  ASSERT_TRUE(one.lease(state, kMinuteNs));
  EXPECT_EQ(stored(), first) << "it lasts for the next launch, too";
  ASSERT_TRUE(one.lease(state, 60 * kMinuteNs));
  EXPECT_GE(stored(), unix_time_ns() + 60 * kMinuteNs);
  ASSERT_TRUE(one.release());
  EXPECT_EQ(stored(), 0);
  ASSERT_TRUE(one.lease(state, kMinuteNs));
  ASSERT_TRUE(one.finish(state, Conclusion::completed()));
  EXPECT_EQ(stored(), 0);
}

TEST_F(AttemptsTest, TellThatAnotherProcessMadeTheLaunchMeanwhile) {
  auto one = attempts();
  auto& state = **one.find_or_begin(prepared_, Pass::kTiming);
  auto other = taken_up();
  launch(other, Pass::kTiming);
  Launch late{.id = make_uuid7()};
  const auto refused = one.add_launch(state, late);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(refused.error().message.find("another process works on run " + run_),
            std::string::npos);
}

TEST_F(AttemptsTest, AnEvaluationWithoutItsJudgementIsMadeAgain) {
  auto first = attempts();
  launch(first, Pass::kEvaluate);
  EXPECT_TRUE(taken_up().is_open(prepared_, {.cell = 0, .pass = Pass::kEvaluate, .index = 0}));
}

}  // namespace
}  // namespace assay
