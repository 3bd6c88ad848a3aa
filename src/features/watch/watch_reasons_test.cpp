#include "features/watch/watch_reasons.h"

#include "features/watch/watch_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/record/incident.h"
#include "assay/record/revision_build.h"

namespace assay::watch {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

WatchView view_of_three() {
  WatchView view;
  view.revisions = {{.hash = "r1", .position = 1, .subject = "one"},
                    {.hash = "r2", .position = 2, .subject = "two"},
                    {.hash = "r3", .position = 3, .subject = "three"}};
  return view;
}

TEST(WatchReasons, AreNoneWhereNothingIsWrong) {
  EXPECT_THAT(text_of_reasons(view_of_three(), 0), IsEmpty());
}

TEST(WatchReasons, PutNeighborsThatFailOnOneLine) {
  auto view = view_of_three();
  for (const auto* hash : {"r2", "r3"}) {
    view.builds[hash] = {.outcome = BuildOutcome::kFailed, .reason = "took longer than 1 s"};
  }
  EXPECT_EQ(text_of_reasons(view, 0),
            "failed       r3  three and 1 before it: took longer than 1 s\n");
}

TEST(WatchReasons, NameCommitsWithoutPoints) {
  auto view = view_of_three();
  view.pointless = {"r2"};
  EXPECT_EQ(text_of_reasons(view, 0), "no point     r2  two: all its cases were skipped\n");
}

TEST(WatchReasons, TellAForcedPush) {
  auto view = view_of_three();
  view.replaced = {"gone"};
  EXPECT_THAT(text_of_reasons(view, 0), HasSubstr("by a forced push: 1 commit with points"));
}

TEST(WatchReasons, TellAClockThatWasSetBack) {
  auto view = view_of_three();
  view.newest_unix_ns = 120'000'000'000;
  EXPECT_THAT(text_of_reasons(view, 30'000'000'000), HasSubstr("1970-01-01T00:02:00"));
  EXPECT_THAT(text_of_reasons(view, 119'000'000'000), IsEmpty()) << "machines differ a little";
}

TEST(WatchReasons, TellWhyAnIncidentRests) {
  const auto view = view_of_three();
  Incident incident{.good = "r1", .bad = "r2", .state = IncidentState::kNominated};
  EXPECT_THAT(reason_of_rest(incident, view), IsEmpty());
  incident.bad = "gone";
  EXPECT_THAT(reason_of_rest(incident, view), HasSubstr("no longer on the branch"));
  incident.state = IncidentState::kRejected;
  EXPECT_THAT(reason_of_rest(incident, view), IsEmpty());
}

}  // namespace
}  // namespace assay::watch
