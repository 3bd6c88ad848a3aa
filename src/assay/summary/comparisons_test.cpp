#include "assay/summary/comparisons.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <string>

#include "assay/base/enum_names.h"
#include "assay/record/axes.h"
#include "assay/record/comparison.h"
#include "assay/record/launch.h"
#include "assay/summary/case_rows.h"

namespace assay {
namespace {

/// A comparison with its launches.
class Comparisons : public testing::Test {
 protected:
  void add(int pair, Side side, std::int64_t ns, PairPhase phase = PairPhase::kSearch,
           std::int64_t major_faults = 0) {
    Launch launch{.id = std::to_string(count_), .attempt = std::string(name_of(side))};
    launch.index = count_++;
    launch.place =
        PairPlace{.comparison = comparison_.id, .pair = pair, .side = side, .phase = phase};
    launch.measurement =
        Measurement{.iterations = 3, .wall_ns = 3 * ns, .major_faults = major_faults};
    launch.measurement->samples = {
        .bind_ns = {1, 1, 1}, .execute_ns = {ns + 5, ns, ns}, .fetch_ns = {1, 1, 1}};
    launches_[launch.attempt].push_back(launch);
  }

  AttemptLaunches launches_;
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
  const auto found = summarize_comparisons({comparison_}, launches_);
  ASSERT_EQ(found.size(), 1U);
  const auto& pairs = found.front().pairs;
  ASSERT_EQ(pairs.size(), 3U) << "the pilot's pair and the half pair are left out";
  EXPECT_EQ(pairs[0].a, 100);
  EXPECT_EQ(pairs[0].b, 110);
  EXPECT_FALSE(pairs[0].is_replaced);
  EXPECT_TRUE(pairs[1].is_replaced);
  EXPECT_TRUE(pairs[1].is_disturbed);
  EXPECT_EQ(pairs[2].phase, PairPhase::kConfirmation);
  EXPECT_EQ(pairs[2].b, 130);
}

TEST_F(Comparisons, HaveThePairsOfTheirOwnLaunchesThatCompleted) {
  add(0, Side::kA, 100);
  add(0, Side::kB, 110);
  add(1, Side::kA, 100);
  add(1, Side::kB, 120);
  launches_["b"].back().outcome = Outcome::kCrashed;
  const auto found = summarize_comparisons({{.id = "another"}, comparison_}, launches_);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_TRUE(found[0].pairs.empty());
  ASSERT_EQ(found[1].pairs.size(), 1U);
  EXPECT_EQ(found[1].pairs[0].pair, 0);
}

}  // namespace
}  // namespace assay
