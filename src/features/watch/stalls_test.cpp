#include "features/watch/stalls.h"

#include "features/repository/repository_spec.h"
#include "features/watch/alarms.h"
#include "features/watch/watch_view.h"

#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <vector>

#include "assay/record/incident.h"
#include "assay/record/revision_build.h"

namespace assay::watch {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::int64_t kBetweenNs = std::int64_t{24} * 3600 * 1'000'000'000;

AnalyzedSeries series_of_case(const std::string& key) {
  AnalyzedSeries one;
  one.stored.measured = {.case_key = key, .label = "label of " + key, .metric = "steady_floor_ns"};
  return one;
}

/// A letter a revision, r1 first and a day after each other: 'B' has a point of case b, 'b' the
/// bytes of the last 'B', '-' was measured without a point of it, 'x' cannot be built, '?' is open.
/// All that were measured have a point of case "other".
WatchView stalled_view(std::string_view plan) {
  WatchView view;
  auto ours = series_of_case("b");
  auto other = series_of_case("other");
  std::string bytes;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const auto hash = fmt::format("r{}", i + 1);
    const auto position = static_cast<std::int64_t>(i) + 1;
    view.revisions.push_back(
        {.hash = hash, .position = position, .committed_unix_ns = position * kBetweenNs});
    if (plan[i] == '?') {
      continue;
    }
    bytes = plan[i] == 'b' ? bytes : "bytes of " + hash;
    view.builds[hash] = {.revision = hash,
                         .environment = "default",
                         .outcome = plan[i] == 'x' ? BuildOutcome::kFailed : BuildOutcome::kBuilt,
                         .reason = plan[i] == 'x' ? "make ended with 2" : "",
                         .output_digest = plan[i] == 'x' ? "" : bytes};
    if (plan[i] == 'B' || plan[i] == '-') {
      view.measured.insert(hash);
      other.stored.series.points.push_back({.position = position, .commit = hash});
    }
    if (plan[i] == 'B') {
      ours.stored.series.points.push_back({.position = position, .commit = hash});
    }
  }
  view.series = {ours, other};
  return view;
}

RepositorySpec spec_with(int broken, int silent_commits, std::int64_t silent_days) {
  RepositorySpec spec;
  spec.policy.broken_commits = broken;
  spec.policy.silent_commits = silent_commits;
  spec.policy.silent_ns = silent_days * kBetweenNs;
  return spec;
}

TEST(BrokenBuild, IsOpenedAfterSoManyCommits) {
  const auto spec = spec_with(3, 0, 0);
  EXPECT_THAT(find_stalls(stalled_view("BBxx"), spec, 7), IsEmpty());
  const auto found = find_stalls(stalled_view("BxBxxx"), spec, 7);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].kind, IncidentKind::kBrokenBuild);
  EXPECT_EQ(found[0].state, IncidentState::kConfirmed);
  EXPECT_EQ(found[0].good, "r3");
  EXPECT_EQ(found[0].culprit, "r4");
  EXPECT_EQ(found[0].environment, "default");
  EXPECT_EQ(title_of(found[0]), "broken build: make ended with 2");
  EXPECT_THAT(find_stalls(stalled_view("BxBxxx"), spec_with(0, 0, 0), 7), IsEmpty());
}

TEST(BrokenBuild, WaitsForTheCommitBeforeIt) {
  EXPECT_THAT(find_stalls(stalled_view("B?xxx"), spec_with(3, 0, 0), 7), IsEmpty());
  EXPECT_THAT(find_stalls(stalled_view("Bxxx?"), spec_with(3, 0, 0), 7), IsEmpty());
  const auto whole = find_stalls(stalled_view("xxx"), spec_with(3, 0, 0), 7);
  ASSERT_THAT(whole, SizeIs(1));
  EXPECT_EQ(whole[0].culprit, "") << "it may have been broken before the horizon";
}

TEST(BrokenBuild, IsOpenedOnceAndClosedByACommitThatBuilds) {
  const auto spec = spec_with(2, 0, 0);
  auto view = stalled_view("Bxx");
  const auto incident = find_stalls(view, spec, 7).at(0);
  view = stalled_view("Bxxx");
  view.incidents = {incident};
  EXPECT_THAT(find_stalls(view, spec, 8), IsEmpty());
  EXPECT_THAT(close_stalls(view, 8), IsEmpty());

  view = stalled_view("BxxxB");
  view.incidents = {incident};
  const auto closed = close_stalls(view, 9);
  ASSERT_THAT(closed, SizeIs(1));
  EXPECT_EQ(closed[0].state, IncidentState::kFixed);
  EXPECT_EQ(closed[0].attribution.at("fixed_by"), "r5");
  EXPECT_TRUE(check_update(incident, closed[0]).has_value());

  view = stalled_view("BxxxBxx");
  view.incidents = closed;
  const auto next = find_stalls(view, spec, 10);
  ASSERT_THAT(next, SizeIs(1)) << "a second break is another incident";
  EXPECT_EQ(next[0].culprit, "r6");
  view.incidents.push_back(next[0]);
  view.incidents.back().state = IncidentState::kAccepted;
  EXPECT_THAT(find_stalls(view, spec, 11), IsEmpty());
  EXPECT_THAT(close_stalls(view, 11), IsEmpty());
}

TEST(BrokenBuild, IsOverWhereItsCommitsWereReplaced) {
  auto view = stalled_view("BB");
  view.incidents = {find_stalls(stalled_view("Bxx"), spec_with(2, 0, 0), 7).at(0)};
  view.incidents[0].bad = "gone";
  view.incidents[0].culprit = "gone";
  EXPECT_THAT(close_stalls(view, 8), SizeIs(1));
}

TEST(Silence, IsOpenedAfterSoManyCommits) {
  const auto spec = spec_with(0, 3, 0);
  EXPECT_THAT(find_stalls(stalled_view("BB--"), spec, 7), IsEmpty());
  const auto found = find_stalls(stalled_view("BB---"), spec, 7);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].kind, IncidentKind::kSilence);
  EXPECT_THAT(found[0].cases, ElementsAre("b"));
  EXPECT_EQ(found[0].good, "r2");
  EXPECT_EQ(found[0].bad, "r3");
  EXPECT_EQ(title_of(found[0]), "no point of label of b");
}

TEST(Silence, IsOpenedAfterSomeTime) {
  EXPECT_THAT(find_stalls(stalled_view("B--"), spec_with(0, 0, 3), 7), IsEmpty());
  EXPECT_THAT(find_stalls(stalled_view("B---"), spec_with(0, 0, 3), 7), SizeIs(1));
}

TEST(Silence, CountsOnlyCommitsThatCouldHaveAPoint) {
  const auto spec = spec_with(0, 3, 3);
  EXPECT_THAT(find_stalls(stalled_view("B????"), spec, 7), IsEmpty()) << "not looked at";
  EXPECT_THAT(find_stalls(stalled_view("Bxxxx"), spec, 7), IsEmpty()) << "not built";
  EXPECT_THAT(find_stalls(stalled_view("Bbbbb"), spec, 7), IsEmpty()) << "the same bytes";
  EXPECT_THAT(find_stalls(stalled_view("?xx"), spec, 7), IsEmpty()) << "never any point";
}

TEST(Silence, IsOpenedOnceAndClosedByAPoint) {
  const auto spec = spec_with(0, 3, 0);
  const auto incident = find_stalls(stalled_view("B---"), spec, 7).at(0);
  auto view = stalled_view("B------");
  view.incidents = {incident};
  EXPECT_THAT(find_stalls(view, spec, 8), IsEmpty());
  EXPECT_THAT(close_stalls(view, 8), IsEmpty());
  view = stalled_view("B---B");
  view.incidents = {incident};
  const auto closed = close_stalls(view, 9);
  ASSERT_THAT(closed, SizeIs(1));
  EXPECT_EQ(closed[0].attribution.at("fixed_by"), "r5");
  view = stalled_view("B---B---");
  view.incidents = closed;
  EXPECT_THAT(find_stalls(view, spec, 10), SizeIs(1));
}

}  // namespace
}  // namespace assay::watch
