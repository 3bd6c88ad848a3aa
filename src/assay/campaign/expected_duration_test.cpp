#include "assay/campaign/expected_duration.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "assay/base/uuid.h"
#include "assay/campaign/run_context.h"
#include "assay/campaign/stopping.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/comparison.h"
#include "assay/record/launch.h"
#include "assay/record/run.h"
#include "assay/record/subject.h"
#include "assay/store/result_store.h"

namespace assay {
namespace {

Case case_of(const std::string& model) { return {.model = {.ref = model}, .engine = "fake"}; }

class ExpectedDuration : public testing::Test {
 protected:
  /// A run that makes launches of one pass of the case, each of which takes `wall_ns`.
  void add_run(const Case& cell, Pass pass, int launches, std::int64_t wall_ns) {
    const assay::Run run{.id = make_uuid7(), .purpose = "measure", .started_unix_ns = 1};
    ASSERT_TRUE(store_->add_run(run));
    const Subject subject{.engine_build = cell.engine_build};
    ASSERT_TRUE(store_->add_subject(subject));
    ASSERT_TRUE(store_->add_case(run.id, cell));
    const Attempt attempt{.id = make_uuid7(),
                          .run = run.id,
                          .case_key = case_key(cell),
                          .subject = subject_key(subject),
                          .pass = pass};
    ASSERT_TRUE(store_->put_attempt(attempt));
    for (int index = 0; index < launches; ++index) {
      Launch launch{.id = make_uuid7(), .attempt = attempt.id, .index = index, .order = index};
      launch.end.wall_ns = wall_ns;
      ASSERT_TRUE(store_->add_launch(launch));
    }
  }

  std::unique_ptr<ResultStore> store_ = make_memory_store();
  const Case net_ = case_of("net.pte");
};

TEST_F(ExpectedDuration, FollowsTheLaunchesOfThisRunAndNotOfTheLast) {
  add_run(net_, Pass::kTiming, 8, 100);
  CampaignSettings settings{.launches = {.least = 80, .most = 80}, .passes = {Pass::kTiming}};
  EXPECT_EQ(*expected_duration_ns(*store_, net_, settings), 8000);
  settings.launches = {.least = 3, .most = 20, .interval_ratio = 0.01};
  EXPECT_EQ(*expected_duration_ns(*store_, net_, settings), 800) << "as many as were enough then";
  settings.launches.budget_ns = 500;
  EXPECT_EQ(*expected_duration_ns(*store_, net_, settings), 500);
  settings.launches.budget_ns = 10;
  EXPECT_EQ(*expected_duration_ns(*store_, net_, settings), 300) << "the fewest always run";
}

TEST_F(ExpectedDuration, IsOfThePassesThatAreMade) {
  add_run(net_, Pass::kTiming, 3, 100);
  add_run(net_, Pass::kEvaluate, 2, 7);
  add_run(net_, Pass::kMemory, 1, 5000);
  const CampaignSettings settings{.passes = {Pass::kEvaluate, Pass::kTiming, Pass::kProfile}};
  EXPECT_EQ(*expected_duration_ns(*store_, net_, settings), 314);
  EXPECT_EQ(*expected_duration_ns(*store_, case_of("new.pte"), settings), 0);
}

TEST_F(ExpectedDuration, OfAComparisonIsOfBothSides) {
  const auto other = case_of("other.pte");
  const ComparisonPlan plan{.looks = {10, 20}, .confirmation_pairs = 5};
  add_run(net_, Pass::kTiming, 3, 100);
  EXPECT_EQ(*expected_comparison_ns(*store_, std::vector{net_, other}, plan), 0);
  EXPECT_EQ(*expected_comparison_ns(*store_, std::vector{net_, net_}, plan), 2000)
      << "the first look at least";
  add_run(other, Pass::kTiming, 500, 10);
  EXPECT_EQ(*expected_comparison_ns(*store_, std::vector{net_, other}, plan), 1500);
}

}  // namespace
}  // namespace assay
