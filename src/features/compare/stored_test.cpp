#include "features/compare/stored.h"

#include <algorithm>
#include <cstdint>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/base/uuid.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/launch.h"
#include "assay/record/metric.h"
#include "assay/record/run.h"
#include "assay/record/stored_comparison.h"
#include "assay/record/subject.h"
#include "assay/store/result_store.h"

namespace assay {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

class StoredRuns : public testing::Test {
 protected:
  /// A run whose cases took these times, one a launch.
  std::string add_run(const std::vector<std::pair<std::string, std::vector<std::int64_t>>>& cases) {
    const assay::Run run{.id = make_uuid7(), .name = "run"};
    EXPECT_TRUE(store_->add_run(run));
    for (const auto& [model, times] : cases) {
      add_case(run.id, {.model = {.ref = model}, .engine = "fake"}, times);
    }
    return run.id;
  }

  /// A run of one case on engine builds and devices, "fake@1 pi5".
  std::string add_run_on(
      const std::vector<std::pair<std::string, std::vector<std::int64_t>>>& variants) {
    const assay::Run run{.id = make_uuid7(), .name = "run"};
    EXPECT_TRUE(store_->add_run(run));
    for (const auto& [variant, times] : variants) {
      const auto space = variant.find(' ');
      add_case(run.id,
               {.model = {.ref = "net.pte"},
                .engine = "fake",
                .engine_build = variant.substr(0, space),
                .device = variant.substr(space + 1)},
               times);
    }
    return run.id;
  }

  void add_case(const std::string& run, const Case& cell, const std::vector<std::int64_t>& times) {
    const Subject subject{.engine_build = cell.engine_build};
    EXPECT_TRUE(store_->add_subject(subject));
    EXPECT_TRUE(store_->add_case(run, cell));
    const Attempt attempt{.id = make_uuid7(),
                          .run = run,
                          .case_key = case_key(cell),
                          .subject = subject_key(subject),
                          .device = cell.device,
                          .pass = Pass::kTiming};
    EXPECT_TRUE(store_->put_attempt(attempt));
    for (const auto ns : times) {
      add_launch(attempt.id, ns);
    }
  }

  /// A run of one case of which each launch tells one number of its own.
  std::string add_told(const ProgramMetric& like, const std::vector<double>& values) {
    const assay::Run run{.id = make_uuid7(), .name = "run"};
    EXPECT_TRUE(store_->add_run(run));
    told_ = like;
    add_case(run.id, {.model = {.ref = "net.pte"}, .engine = "fake"}, {});
    const auto attempts = store_->attempts_of_run(run.id);
    for (const double value : values) {
      told_->value = value;
      add_launch(attempts->front().id, 1000);
    }
    told_.reset();
    return run.id;
  }

  StoredChange change_of(const ProgramMetric& like, const std::vector<double>& a,
                         const std::vector<double>& b) {
    const auto found =
        compare_stored_runs(*store_, add_told(like, a), add_told(like, b), "program:" + like.name);
    EXPECT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->unit, like.unit);
    EXPECT_EQ(found->better, like.better);
    return found ? found->changes.at(0) : StoredChange{};
  }

  void add_launch(const std::string& attempt, std::int64_t ns) {
    Launch launch{.id = make_uuid7(), .attempt = attempt, .index = next_, .order = next_};
    ++next_;
    Measurement measured{.iterations = 3, .stopped_by = "count"};
    measured.samples = {.bind_ns = {1, 1, 1}, .execute_ns = {ns, ns, ns}, .fetch_ns = {1, 1, 1}};
    if (told_) {
      measured.metrics = {*told_};
    }
    launch.measurement = measured;
    EXPECT_TRUE(store_->add_launch(launch));
  }

  std::unique_ptr<ResultStore> store_ = make_memory_store();
  std::optional<ProgramMetric> told_;
  int next_ = 0;
};

TEST_F(StoredRuns, OfARateSayOfItWhatThoseOfItsReciprocalSay) {
  const ProgramMetric time{.name = "time", .unit = "ns"};
  const ProgramMetric rate{.name = "rate", .unit = "1/s", .better = Better::kHigher};
  const auto reciprocals = [](std::vector<double> values) {
    std::ranges::for_each(values, [](double& value) { value = 1 / value; });
    return values;
  };
  const std::vector<double> a = {100, 101, 103, 100.5, 102, 99};
  for (const double factor : {0.8, 0.99, 1.0, 1.3}) {
    std::vector<double> b = {99, 104, 101, 100.2, 98, 102.5};
    std::ranges::for_each(b, [factor](double& value) { value *= factor; });
    const auto of_time = change_of(time, a, b);
    const auto of_rate = change_of(rate, reciprocals(a), reciprocals(b));
    EXPECT_NEAR((1 + of_time.ratio) * (1 + of_rate.ratio), 1, 1e-12) << factor;
    ASSERT_TRUE(of_time.low && of_time.high && of_rate.low && of_rate.high);
    EXPECT_NEAR((1 + *of_time.low) * (1 + *of_rate.high), 1, 1e-12) << factor;
    EXPECT_NEAR((1 + *of_time.high) * (1 + *of_rate.low), 1, 1e-12) << factor;
    EXPECT_DOUBLE_EQ(of_time.p_value, of_rate.p_value) << factor;
    EXPECT_EQ(of_time.is_nominated, of_rate.is_nominated) << factor;
    EXPECT_NEAR(of_time.a_median * of_rate.a_median, 1, 0.01) << factor;
  }
}

TEST_F(StoredRuns, KeepLaunchesThatTellZero) {
  const ProgramMetric misses{.name = "misses", .unit = "count"};
  const auto grown = change_of(misses, {0, 0, 0, 0, 0, 0}, {3, 3, 4, 3, 5, 3});
  EXPECT_EQ(grown.a_launches, 6);
  EXPECT_TRUE(grown.is_nominated);
  EXPECT_EQ(grown.scale, MetricScale::kDifference);
  EXPECT_EQ(grown.base, 0) << "nothing is a share of 0";
  EXPECT_NEAR(grown.ratio, 3, 1e-9) << "in the metric's unit";
  const auto share = change_of(misses, {10, 10, 10, 10, 10, 10}, {0, 12, 12, 12, 12, 12});
  EXPECT_EQ(share.b_launches, 6);
  EXPECT_EQ(share.base, 10);
  EXPECT_NEAR(share.ratio, 0.2, 1e-9);
}

TEST_F(StoredRuns, NominateWhatChangedAndNothingElse) {
  const std::vector<std::int64_t> same = {1000, 1010, 1005, 1003, 1008, 1001};
  const std::vector<std::int64_t> again = {1002, 1009, 1004, 1006, 1007, 1000};
  const std::vector<std::int64_t> slower = {1100, 1110, 1105, 1103, 1108, 1101};
  const auto a = add_run({{"same.pte", same}, {"changed.pte", same}, {"gone.pte", same}});
  const auto b = add_run({{"same.pte", again}, {"changed.pte", slower}});
  const auto found = compare_stored_runs(*store_, a, b, "steady_ns");
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->changes.size(), 2U);
  EXPECT_EQ(found->only_in_a, 1);
  EXPECT_EQ(found->only_in_b, 0);
  const auto& first = found->changes[0];
  EXPECT_THAT(first.label, HasSubstr("changed"));
  EXPECT_TRUE(first.is_nominated);
  EXPECT_NEAR(first.ratio, 0.1, 0.003);
  EXPECT_NEAR(first.p_value, 2.0 / 924, 1e-9) << "two of the C(12, 6) ways";
  EXPECT_FALSE(found->changes[1].is_nominated);
  EXPECT_THAT(found->notes, IsEmpty());
}

TEST_F(StoredRuns, CompareEachEngineBuildWithItself) {
  const std::vector<std::int64_t> fast = {1000, 1010, 1005, 1003, 1008, 1001};
  const std::vector<std::int64_t> slow = {2000, 2010, 2005, 2003, 2008, 2001};
  const auto a = add_run_on({{"fake@1 local", fast}, {"fake@2 local", slow}});
  const auto b = add_run_on({{"fake@1 local", fast}, {"fake@2 local", fast}});
  const auto found = compare_stored_runs(*store_, a, b, "steady_ns");
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->changes.size(), 2U);
  EXPECT_THAT(found->changes[0].label, HasSubstr("fake@2"));
  EXPECT_NEAR(found->changes[0].ratio, -0.5, 0.003);
  EXPECT_EQ(found->changes[0].a_launches, 6);
  EXPECT_THAT(found->changes[1].label, HasSubstr("fake@1"));
  EXPECT_EQ(found->changes[1].ratio, 0);
}

TEST_F(StoredRuns, CompareEachDeviceWithItself) {
  const std::vector<std::int64_t> fast = {1000, 1010, 1005, 1003, 1008, 1001};
  const std::vector<std::int64_t> slow = {2000, 2010, 2005, 2003, 2008, 2001};
  const auto a = add_run_on({{"fake@1 pi4", slow}, {"fake@1 pi5", fast}});
  const auto b = add_run_on({{"fake@2 pi4", slow}, {"fake@2 pi5", fast}});
  const auto found = compare_stored_runs(*store_, a, b, "steady_ns");
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->changes.size(), 2U);
  for (const auto& change : found->changes) {
    EXPECT_EQ(change.ratio, 0) << change.label;
    EXPECT_THAT(change.label, HasSubstr(" on pi"));
  }
}

TEST_F(StoredRuns, LeaveOutABuildThatTheOtherRunLacks) {
  const auto a = add_run_on({{"fake@1 local", {1000}}});
  const auto b = add_run_on({{"fake@1 local", {1000}}, {"fake@2 local", {2000}}});
  const auto found = compare_stored_runs(*store_, a, b, "steady_ns");
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->changes.size(), 1U);
  EXPECT_EQ(found->changes[0].ratio, 0);
  EXPECT_EQ(found->only_in_b, 1);
}

TEST_F(StoredRuns, OfThreeLaunchesSayThatTheyCannotShowAnything) {
  const auto a = add_run({{"net.pte", {1000, 1001, 1002}}});
  const auto b = add_run({{"net.pte", {2000, 2001, 2002}}});
  const auto found = compare_stored_runs(*store_, a, b, "steady_ns");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_FALSE(found->changes[0].is_nominated);
  EXPECT_FALSE(found->changes[0].low);
  EXPECT_THAT(found->notes, Contains(HasSubstr("fewer than four launches")));
}

TEST_F(StoredRuns, WithoutACommonCaseAreRefused) {
  const auto a = add_run({{"one.pte", {1000}}});
  const auto b = add_run({{"two.pte", {1000}}});
  const auto found = compare_stored_runs(*store_, a, b, "steady_ns");
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("no timed case in common"));
  EXPECT_EQ(compare_stored_runs(*store_, a, "nosuch", "steady_ns").error().code,
            ErrorCode::kNotFound);
}

}  // namespace
}  // namespace assay
