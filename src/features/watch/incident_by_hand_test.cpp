#include "features/watch/incident_by_hand.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/incident.h"

namespace assay::watch {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Incident incident_in(const std::string& id, IncidentState state) {
  return {.id = id,
          .opened_unix_ns = 1,
          .state = state,
          .attribution = {{"title", "title of " + id}},
          .note = "before",
          .changed_unix_ns = 10};
}

std::vector<Incident> some_incidents() {
  return {incident_in("01-aa", IncidentState::kConfirmed),
          incident_in("01-ab", IncidentState::kUndecided),
          incident_in("02-aa", IncidentState::kRejected)};
}

TEST(IncidentByHand, IsFoundByTheBeginningOfItsId) {
  EXPECT_EQ(find_incident(some_incidents(), "01-ab")->id, "01-ab");
  EXPECT_EQ(find_incident(some_incidents(), "02")->id, "02-aa");
}

TEST(IncidentByHand, ListsTheOpenOnesForAWrongId) {
  const auto unknown = find_incident(some_incidents(), "03").error();
  EXPECT_EQ(unknown.code, ErrorCode::kNotFound);
  EXPECT_THAT(unknown.message,
              AllOf(HasSubstr("no incident '03'; open incidents:"),
                    HasSubstr("01-aa  confirmed  title of 01-aa"), Not(HasSubstr("02-aa"))));
  const auto several = find_incident(some_incidents(), "01-a").error();
  EXPECT_EQ(several.code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(several.message, HasSubstr("'01-a' is the beginning of 2 incidents"));
  EXPECT_THAT(find_incident({}, "").error().message, HasSubstr("no incident is open"));
}

TEST(IncidentByHand, ComesToLegalStatesOnly) {
  const auto incident = incident_in("01", IncidentState::kConfirmed);
  const auto accepted = changed_by_hand(incident, {IncidentState::kAccepted, "faster start"}, 20);
  ASSERT_TRUE(accepted.has_value());
  EXPECT_EQ(accepted->state, IncidentState::kAccepted);
  EXPECT_EQ(accepted->note, "faster start");
  EXPECT_EQ(accepted->changed_unix_ns, 20);
  EXPECT_FALSE(
      changed_by_hand(incident_in("01", IncidentState::kFixed), {IncidentState::kAccepted, ""}, 20)
          .has_value());
  // No outcome of a comparison or search reopens what a person has accepted.
  for (const auto state : {IncidentState::kConfirmed, IncidentState::kFixed}) {
    auto next = *accepted;
    next.state = state;
    EXPECT_FALSE(check_update(*accepted, next).has_value());
  }
}

TEST(IncidentByHand, SurvivesAClockThatWasSetBack) {
  const auto later = changed_by_hand(incident_in("01", IncidentState::kConfirmed),
                                     {IncidentState::kAcknowledged, ""}, 5);
  ASSERT_TRUE(later.has_value());
  EXPECT_EQ(later->changed_unix_ns, 10);
  EXPECT_EQ(later->note, "before");
}

TEST(IncidentByHand, TellsAStateOfAPersonFromOneOfTheWatcher) {
  const auto known = incident_in("01", IncidentState::kConfirmed);
  EXPECT_FALSE(was_changed_by_hand(known, {known}));
  EXPECT_FALSE(was_changed_by_hand(known, {incident_in("01", IncidentState::kFixed)}));
  EXPECT_TRUE(was_changed_by_hand(known, {incident_in("01", IncidentState::kAccepted)}));
}

}  // namespace
}  // namespace assay::watch
