#include "features/watch/change_check.h"

#include "features/watch/testing/scripted_repository.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/metric.h"

namespace assay::watch {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

ChangeCheck check(ScriptedRepository& toy) {
  const auto checked = check_change(toy.revisions.front(), toy.revisions.back(), toy.tools());
  EXPECT_TRUE(checked.has_value()) << checked.error().message;
  return checked.value_or(ChangeCheck{});
}

std::vector<ScriptedRevision> slower_by(double change) { return {{}, {.levels = {{"a", change}}}}; }

TEST(CheckChange, ComparesTheNumbersOfProgramsThatTheFileNames) {
  for (const auto& metric : {cost_metric(), rate_metric()}) {
    ScriptedRepository toy(slower_by(0.1), metric);
    const auto worse = check(toy);
    EXPECT_EQ(worse.verdict, ChangeVerdict::kWorse) << metric.name;
    ASSERT_THAT(worse.rows, SizeIs(1));
    EXPECT_EQ(worse.rows[0].metric, metric.full_name());
    EXPECT_EQ(worse.rows[0].unit, metric.unit);
  }
  ScriptedRepository better(slower_by(-0.1), rate_metric());
  EXPECT_EQ(check(better).verdict, ChangeVerdict::kBetter);
  ScriptedRepository same(slower_by(0), rate_metric());
  EXPECT_EQ(check(same).verdict, ChangeVerdict::kSame);
}

TEST(CheckChange, DecidesNothingWhereNothingIsWatched) {
  ScriptedRepository toy(slower_by(0.1), cost_metric());
  toy.spec.policy.min_effect_ratio.clear();  // Then times are watched, and the program tells none.
  const auto checked = check(toy);
  EXPECT_EQ(checked.verdict, ChangeVerdict::kUndecided);
  EXPECT_THAT(checked.rows, IsEmpty());
  EXPECT_THAT(checked.text, HasSubstr("program:cost"));
}

TEST(CheckChange, DecidesNothingWhereTheHeadTellsTheNumberNoMore) {
  ScriptedRepository toy(slower_by(0), cost_metric());
  toy.is_lost = [](const std::string& revision, int) { return revision == "r2"; };
  const auto checked = check(toy);
  EXPECT_EQ(checked.verdict, ChangeVerdict::kUndecided);
  ASSERT_THAT(checked.rows, SizeIs(1));
  EXPECT_THAT(checked.rows[0].text, HasSubstr("the head"));
}

TEST(CheckChange, MeasuresAFailureAgain) {
  ScriptedRepository flaky(slower_by(0), cost_metric());
  int crashes = 0;
  flaky.is_flaky = [&](const std::string& revision, const std::string&) {
    return revision == "r2" && crashes++ == 0;
  };
  EXPECT_EQ(check(flaky).verdict, ChangeVerdict::kUndecided);
  ScriptedRepository broken({{}, {.crashing = {"a"}}}, cost_metric());
  EXPECT_EQ(check(broken).verdict, ChangeVerdict::kWorse);
}

}  // namespace
}  // namespace assay::watch
