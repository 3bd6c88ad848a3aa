#include "assay/history/history.h"

#include <cstddef>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/history/series.h"
#include "assay/history/testing/sample_series.h"

namespace assay::history {
namespace {

Series stepped(std::size_t at, double change, unsigned seed, std::string name) {
  auto offsets = sample_offsets(120, seed);
  add_step(offsets, at, change);
  auto series = sample_series(offsets);
  series.name = std::move(name);
  return series;
}

TEST(MakeHistory, GroupsStepsThatOneCommitCanHaveMade) {
  std::vector<Series> all;
  all.push_back(stepped(60, 0.05, 1, "a"));
  all.push_back(stepped(90, 0.05, 2, "b"));
  all.push_back(stepped(60, -0.06, 3, "c"));
  const auto history = make_history("x", std::move(all), {});
  ASSERT_EQ(history.incidents.size(), 2U);
  EXPECT_EQ(history.incidents[0].likely, "c90");
  const auto& both = history.incidents[1];
  EXPECT_EQ(both.likely, "c60");
  ASSERT_EQ(both.steps.size(), 2U);
  EXPECT_EQ(both.steps[0].series, 0U);
  EXPECT_EQ(both.steps[1].series, 2U);
  EXPECT_LT(both.after, 60);
  EXPECT_GE(both.until, 60);
  EXPECT_EQ(both.last_before, "c" + std::to_string(both.after));
  EXPECT_EQ(both.first_after, "c" + std::to_string(both.until));
}

TEST(MakeHistory, AllowsForTheNumberOfSeries) {
  auto weak = stepped(113, 0.02, 5, "weak");
  const auto alone = make_history("x", {weak}, {});
  ASSERT_EQ(alone.series[0].analysis.steps.size(), 1U);
  ASSERT_TRUE(alone.series[0].analysis.steps[0].is_counted);
  std::vector<Series> many = {weak};
  for (unsigned seed = 100; seed < 400; ++seed) {
    many.push_back(sample_series(sample_offsets(20, seed)));
  }
  const auto among = make_history("x", std::move(many), {});
  ASSERT_EQ(among.series[0].analysis.steps.size(), 1U);
  EXPECT_FALSE(among.series[0].analysis.steps[0].is_counted);
  EXPECT_TRUE(among.incidents.empty());
}

TEST(PositionOfCommit, TakesTheBeginningOfAHash) {
  const auto history = make_history("x", {sample_series(sample_offsets(20, 1))}, {});
  EXPECT_EQ(position_of_commit(history, "c7").value_or(-1), 7);
  EXPECT_EQ(position_of_commit(history, "c1").value_or(-1), 1);
  EXPECT_EQ(position_of_commit(history, "c").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(position_of_commit(history, "d").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(position_of_commit(history, "").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace assay::history
