#include "features/history/history.h"

#include "features/history/segment.h"
#include "features/history/series.h"
#include "features/history/testing/sample_series.h"
#include "features/history/verified_change.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/result.h"

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

TEST(AddVerified, DividesTheSeriesOfItsMachineAlone) {
  std::vector<Series> all;
  for (const auto* machine : {"desk", "phone"}) {
    all.push_back(sample_series(sample_offsets(60, 7)));
    all.back().name = "net";
    all.back().machine = machine;
  }
  const VerifiedChange change{.series = "net",
                              .metric = all.front().metric,
                              .machine = "phone",
                              .state = "confirmed",
                              .commit = "c30",
                              .position = 30};
  auto history = make_history("x", all, {});
  add_verified(history, {change});
  EXPECT_EQ(history.series[0].analysis.segments.size(), 1U);
  EXPECT_EQ(history.series[1].analysis.segments.size(), 2U);
  EXPECT_FALSE(change.is_on(all[0]));
  all[0].machine = "";
  EXPECT_TRUE(change.is_on(all[0])) << "there is but one machine";
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

VerifiedChange change_at(std::int64_t position, std::string state) {
  return {.series = "net",
          .metric = "steady_ns",
          .state = std::move(state),
          .commit = "c" + std::to_string(position),
          .position = position};
}

TEST(AddVerified, DividesASeriesIntoTheLevelsBeforeAndAfterAConfirmedChange) {
  std::vector<double> offsets(8, 0.0);
  add_step(offsets, 5, 0.05);
  auto history = make_history("x", {sample_series(offsets)}, {});
  ASSERT_EQ(history.series[0].analysis.segments.size(), 1U) << "too few points for a step";
  auto rejected = history;
  add_verified(rejected, {change_at(5, "rejected")});
  EXPECT_EQ(rejected.series[0].analysis.segments.size(), 1U);
  add_verified(history, {change_at(5, "confirmed")});
  const auto& segments = history.series[0].analysis.segments;
  ASSERT_EQ(segments.size(), 2U);
  EXPECT_EQ(segments[0].end, 5U);
  EXPECT_EQ(segments[1].cause, SegmentCause::kVerified);
  EXPECT_NEAR(segments[1].value / segments[0].value, std::exp(0.05), 1e-9);
}

TEST(AddVerified, LeavesAStepThatItExplainsAsItIs) {
  auto history = make_history("x", {stepped(60, 0.05, 1, "net")}, {});
  const auto count = history.series[0].analysis.segments.size();
  add_verified(history, {change_at(60, "fixed")});
  EXPECT_EQ(history.series[0].analysis.segments.size(), count);
}

TEST(AddVerified, ExplainsTheNominationsOfAllMetricsOfItsCase) {
  auto offsets = sample_offsets(100, 4);
  add_step(offsets, 99, 0.08);
  auto other = sample_series(offsets);
  other.metric = "load_ns";
  auto history = make_history("x", {sample_series(offsets), other}, {});
  ASSERT_TRUE(history.series[1].analysis.nomination);
  add_verified(history, {change_at(99, "confirmed")});
  EXPECT_FALSE(history.series[0].analysis.nomination);
  EXPECT_FALSE(history.series[1].analysis.nomination);
}

TEST(PositionOfCommit, TakesTheBeginningOfAHash) {
  const auto history = make_history("x", {sample_series(sample_offsets(20, 1))}, {});
  EXPECT_EQ(position_of_commit(history, "c7").value_or(-1), 7);
  EXPECT_EQ(position_of_commit(history, "c1").value_or(-1), 1);
  EXPECT_EQ(position_of_commit(history, "c").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(position_of_commit(history, "d").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(position_of_commit(history, "").error().code, ErrorCode::kNotFound);
}

TEST(PositionOfCommit, KnowsTheCommitThatMadeAVerifiedChange) {
  History history{.source = "toy.json"};
  history.verified = {{.commit = "abc123", .position = 7}};
  EXPECT_EQ(position_of_commit(history, "abc").value_or(0), 7);
  EXPECT_EQ(position_of_commit(history, "abc123").value_or(0), 7);
  EXPECT_FALSE(position_of_commit(history, "").has_value());
}

}  // namespace
}  // namespace assay::history
