#include "features/watch/step_times.h"

#include "features/watch/next_steps.h"
#include "features/watch/watch_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>

#include "assay/record/revision_build.h"

namespace assay::watch {
namespace {

using testing::ElementsAre;
using testing::Optional;

TEST(StepTimes, AddTheBuildOfACommitThatHasNone) {
  WatchView view;
  view.builds["built"] = {.revision = "built", .outcome = BuildOutcome::kBuilt};
  const StepTimes times{.build = 5, .measure = 20, .verify = 60, .bisect = std::nullopt};
  EXPECT_THAT(expected_seconds({{.revision = "built"},
                                {.revision = "new"},
                                {.kind = StepKind::kVerify, .incident = "i"},
                                {.kind = StepKind::kBisect, .incident = "i"}},
                               times, view),
              ElementsAre(Optional(20.0), Optional(25.0), Optional(60.0), std::nullopt));
}

TEST(StepTimes, AreUnknownWithoutAnyOfTheirParts) {
  const StepTimes times{.build = std::nullopt, .measure = 20};
  EXPECT_THAT(expected_seconds({{.revision = "new"}}, times, WatchView()),
              ElementsAre(std::nullopt));
}

}  // namespace
}  // namespace assay::watch
