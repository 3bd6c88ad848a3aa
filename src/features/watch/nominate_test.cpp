#include "features/watch/nominate.h"

#include "features/history/series.h"
#include "features/repository/repository_spec.h"
#include "features/watch/watch_view.h"

#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "assay/record/incident.h"
#include "assay/record/repository.h"
#include "assay/record/revision_build.h"

namespace assay::watch {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kTime = "steady_floor_ns";

/// Revisions r1, r2, … that were all built, each with bytes of its own and a point of its own
/// unless its offset is NaN; then it has the bytes of the revision before.
WatchView view_from(const std::vector<double>& offsets) {
  WatchView view;
  AnalyzedSeries one;
  one.stored.measured = {.case_key = "case", .label = "bench", .metric = kTime, .unit = "ns"};
  auto& series = one.stored.series;
  series = {.name = "bench", .metric = kTime, .environments = {"m"}, .references = {"r1"}};
  std::string bytes;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const auto hash = fmt::format("r{}", i + 1);
    const auto position = static_cast<std::int64_t>(i) + 1;
    view.revisions.push_back({.hash = hash, .position = position});
    if (!std::isnan(offsets[i])) {
      bytes = "bytes of " + hash;
      series.points.push_back({.position = position, .commit = hash, .offset = offsets[i]});
      view.measured.insert(hash);
    }
    view.builds[hash] = {.revision = hash,
                         .environment = "default",
                         .outcome = BuildOutcome::kBuilt,
                         .output_digest = bytes};
  }
  view.series.push_back(std::move(one));
  return view;
}

Incident incident_at(const std::string& culprit, double change, IncidentState state) {
  return {.id = culprit,
          .environment = "default",
          .machine = "m",
          .cases = {"case"},
          .metric = kTime,
          .good = culprit,
          .bad = culprit,
          .state = state,
          .culprit = culprit,
          .attribution = {{"is_worse", change > 0}, {"change", change}}};
}

TEST(Nominate, NamesNeighboringBuildsThatDiffer) {
  const auto found = nominate_incidents(view_from({0, 0.001, 0.051, 0.05}), {}, 7);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].good, "r2");
  EXPECT_EQ(found[0].bad, "r3");
  EXPECT_EQ(found[0].state, IncidentState::kNominated);
  EXPECT_EQ(found[0].opened_unix_ns, 7);
  EXPECT_TRUE(found[0].attribution.at("is_worse"));
}

TEST(Nominate, NarrowsTheRangeByEqualBytes) {
  const double same = std::nan("");
  const auto found = nominate_incidents(view_from({0, same, same, 0.05, same}), {}, 0);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].good, "r3");
  EXPECT_EQ(found[0].bad, "r4");
}

TEST(Nominate, WaitsForRevisionsThatAreNotMeasured) {
  auto view = view_from({0, 0, 0.05});
  view.builds.erase("r2");
  view.measured.erase("r2");
  std::erase_if(view.series[0].stored.series.points,
                [](const auto& point) { return point.commit == "r2"; });
  EXPECT_THAT(nominate_incidents(view, {}, 0), IsEmpty());
  RepositorySpec spec;
  spec.policy.step = 2;
  EXPECT_THAT(nominate_incidents(view, spec, 0), SizeIs(1)) << "the range is short enough";
}

TEST(Nominate, LeavesOutWhatIsKnown) {
  auto view = view_from({0, 0.05, 0.05});
  view.incidents = {incident_at("r2", 0.05, IncidentState::kConfirmed)};
  EXPECT_THAT(nominate_incidents(view, {}, 0), IsEmpty());
  view.incidents = {incident_at("r2", -0.05, IncidentState::kConfirmed)};
  EXPECT_THAT(nominate_incidents(view, {}, 0), SizeIs(1)) << "the other direction";
}

TEST(Nominate, FindsADriftWhereNoStepIs) {
  const std::vector<double> drifting = {0, 0.01, 0.02, 0.03, 0.045};
  const auto found = nominate_incidents(view_from(drifting), {}, 0);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].kind, IncidentKind::kDrift);
  EXPECT_EQ(found[0].good, "r1");
  EXPECT_EQ(found[0].bad, "r5");
}

TEST(Nominate, FindsARejectedDriftAgainOnlyWhenItGoesOn) {
  auto view = view_from({0, 0.01, 0.02, 0.03, 0.045});
  view.incidents = nominate_incidents(view, {}, 0);
  ASSERT_THAT(view.incidents, SizeIs(1));
  for (const auto state : {IncidentState::kRejected, IncidentState::kUndecided}) {
    view.incidents[0].state = state;
    EXPECT_THAT(nominate_incidents(view, {}, 0), IsEmpty()) << "it would be verified for ever";
  }
  auto later = view_from({0, 0.01, 0.02, 0.03, 0.045, 0.055});
  later.incidents = view.incidents;
  EXPECT_THAT(nominate_incidents(later, {}, 0), SizeIs(1));
}

TEST(CloseFixed, ClosesTheIncidentOfWhichLeastIsLeft) {
  auto view = view_from({0, 0.058, 0.097, 0.06});
  view.incidents = {incident_at("r2", 0.058, IncidentState::kConfirmed),
                    incident_at("r3", 0.039, IncidentState::kConfirmed),
                    incident_at("r4", -0.037, IncidentState::kConfirmed)};
  const auto closed = close_fixed(view, 9);
  ASSERT_THAT(closed, SizeIs(1));
  EXPECT_EQ(closed[0].id, "r3");
  EXPECT_EQ(closed[0].state, IncidentState::kFixed);
  EXPECT_EQ(closed[0].attribution.at("fixed_by"), "r4");
  view.incidents[1] = closed[0];
  EXPECT_THAT(close_fixed(view, 10), IsEmpty()) << "one improvement fixes one incident";
}

TEST(CloseFixed, KeepsWhatIsOnlyPartlyTakenBack) {
  auto view = view_from({0, 0.06, 0.04});
  view.incidents = {incident_at("r2", 0.06, IncidentState::kConfirmed),
                    incident_at("r3", -0.02, IncidentState::kConfirmed)};
  EXPECT_THAT(close_fixed(view, 9), IsEmpty());
}

}  // namespace
}  // namespace assay::watch
