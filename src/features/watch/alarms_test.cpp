#include "features/watch/alarms.h"

#include <gtest/gtest.h>

#include "assay/record/incident.h"

namespace assay::watch {
namespace {

Alarm alarm_in(bool is_worse) {
  return {.case_key = "case",
          .metric = "steady_floor_ns",
          .kind = IncidentKind::kDrift,
          .last_before = 4,
          .first_after = 9,
          .is_worse = is_worse};
}

Incident incident_in(IncidentState state, bool is_worse) {
  Incident incident;
  incident.kind = IncidentKind::kDrift;
  incident.state = state;
  incident.cases = {"case"};
  incident.metric = "steady_floor_ns";
  incident.attribution = {{"is_worse", is_worse}};
  return incident;
}

TEST(IsKnown, TellsDirectionsApart) {
  const auto incident = incident_in(IncidentState::kConfirmed, /*is_worse=*/true);
  EXPECT_TRUE(is_known({alarm_in(true)}, {{&incident, 4, 9}}));
  EXPECT_FALSE(is_known({alarm_in(false)}, {{&incident, 4, 9}}));
}

TEST(IsKnown, IsSoUnderTheDirectionThatPairsCorrected) {
  auto incident = incident_in(IncidentState::kConfirmed, /*is_worse=*/true);
  incident.attribution["nominated_is_worse"] = false;
  EXPECT_TRUE(is_known({alarm_in(false)}, {{&incident, 4, 9}}))
      << "the history says the same as before; it must not be verified for ever";
  EXPECT_TRUE(is_known({alarm_in(true)}, {{&incident, 4, 9}}));
}

TEST(IsRefuted, CoversNoMoreThanTheRangeWhereNoChangeWasFound) {
  const auto incident = incident_in(IncidentState::kRejected, /*is_worse=*/true);
  EXPECT_TRUE(is_refuted(alarm_in(true), {{&incident, 3, 9}}));
  EXPECT_FALSE(is_refuted(alarm_in(true), {{&incident, 5, 9}}));
  EXPECT_FALSE(is_known({alarm_in(true)}, {{&incident, 3, 9}}));
}

TEST(IsRefuted, NeedsThreeOthersWhereThePairsWereOfAnotherCase) {
  auto incident = incident_in(IncidentState::kRejected, /*is_worse=*/true);
  incident.cases = {"other", "case"};
  const KnownRange range{&incident, 3, 9};
  EXPECT_FALSE(is_refuted(alarm_in(true), {range, range}));
  EXPECT_TRUE(is_refuted(alarm_in(true), {range, range, range}));
}

TEST(GroupAlarms, KeepsFailuresApartFromSizes) {
  auto size = alarm_in(true);
  size.nature = MetricNature::kExact;
  auto failure = alarm_in(true);
  failure.nature = MetricNature::kFailure;
  EXPECT_EQ(group_alarms({size, failure}).size(), 2U);
}

}  // namespace
}  // namespace assay::watch
