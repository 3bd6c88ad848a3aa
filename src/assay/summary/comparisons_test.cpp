#include "assay/summary/comparisons.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <memory>
#include <string>

#include "assay/base/fs.h"
#include "assay/record/case.h"
#include "assay/record/comparison.h"
#include "assay/record/launch.h"
#include "assay/record/run.h"
#include "assay/store/result_store.h"

namespace assay {
namespace {

/// A store with one comparison, to which launches can be added.
class Comparisons : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(store_->add_run(run_));
    ASSERT_TRUE(store_->add_case(run_.id, cell_));
    ASSERT_TRUE(store_->put_attempt(attempt_));
    ASSERT_TRUE(store_->put_comparison(comparison_));
  }

  void add(int pair, Side side, std::int64_t ns, PairPhase phase = PairPhase::kSearch,
           std::int64_t major_faults = 0) {
    Launch launch{.id = std::to_string(count_), .attempt = attempt_.id, .index = count_++};
    launch.place =
        PairPlace{.comparison = comparison_.id, .pair = pair, .side = side, .phase = phase};
    launch.measurement =
        Measurement{.iterations = 3, .wall_ns = 3 * ns, .major_faults = major_faults};
    launch.measurement->samples = {
        .bind_ns = {1, 1, 1}, .execute_ns = {ns + 5, ns, ns}, .fetch_ns = {1, 1, 1}};
    ASSERT_TRUE(store_->add_launch(launch));
  }

  TemporaryFolder folder_ = TemporaryFolder::make("assay-comparisons").value();
  std::unique_ptr<ResultStore> store_ = open_sqlite_store(folder_.path() / "s.db").value();
  assay::Run run_{.id = "run"};
  Case cell_{.engine = "fake"};
  Attempt attempt_{.id = "attempt", .run = "run", .case_key = case_key(cell_)};
  Comparison comparison_{.id = "c", .run = "run", .replaced_pairs = {1}};
  int count_ = 0;
};

TEST_F(Comparisons, HaveAPointForEveryPairWithBothSides) {
  add(0, Side::kA, 100);
  add(0, Side::kB, 110);
  add(0, Side::kCanary, 500);
  add(1, Side::kA, 100);
  add(1, Side::kB, 120, PairPhase::kSearch, /*major_faults=*/3);
  add(2, Side::kA, 100);
  add(3, Side::kB, 130, PairPhase::kConfirmation);
  add(3, Side::kA, 101, PairPhase::kConfirmation);
  add(4, Side::kA, 900, PairPhase::kPilot);
  add(4, Side::kB, 900, PairPhase::kPilot);
  const auto found = summarize_comparisons(*store_, run_, {attempt_});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 1U);
  const auto& pairs = found->front().pairs;
  ASSERT_EQ(pairs.size(), 3U) << "the pilot's pair and the half pair are left out";
  EXPECT_EQ(pairs[0].a, 100);
  EXPECT_EQ(pairs[0].b, 110);
  EXPECT_FALSE(pairs[0].is_replaced);
  EXPECT_TRUE(pairs[1].is_replaced);
  EXPECT_TRUE(pairs[1].is_disturbed);
  EXPECT_EQ(pairs[2].phase, PairPhase::kConfirmation);
  EXPECT_EQ(pairs[2].b, 130);
}

TEST_F(Comparisons, AreNoneInARunOfAnotherKind) {
  const assay::Run other{.id = "other"};
  ASSERT_TRUE(store_->add_run(other));
  const auto found = summarize_comparisons(*store_, other, {});
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->empty());
}

}  // namespace
}  // namespace assay
