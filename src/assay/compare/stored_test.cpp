#include "assay/compare/stored.h"

#include <cstdint>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/base/uuid.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/launch.h"
#include "assay/record/run.h"
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
      const Case cell{.model = {.ref = model}, .engine = "fake"};
      EXPECT_TRUE(store_->add_case(run.id, cell));
      const Attempt attempt{
          .id = make_uuid7(), .run = run.id, .case_key = case_key(cell), .pass = Pass::kTiming};
      EXPECT_TRUE(store_->put_attempt(attempt));
      for (const auto ns : times) {
        add_launch(attempt.id, ns);
      }
    }
    return run.id;
  }

  void add_launch(const std::string& attempt, std::int64_t ns) {
    Launch launch{.id = make_uuid7(), .attempt = attempt, .index = next_, .order = next_};
    ++next_;
    Measurement measured{.iterations = 3, .stopped_by = "count"};
    measured.samples = {.bind_ns = {1, 1, 1}, .execute_ns = {ns, ns, ns}, .fetch_ns = {1, 1, 1}};
    launch.measurement = measured;
    EXPECT_TRUE(store_->add_launch(launch));
  }

  std::unique_ptr<ResultStore> store_ = make_memory_store();
  int next_ = 0;
};

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
