#include "assay/summary/reduction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/record/axes.h"
#include "assay/record/launch.h"

namespace assay {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::Pair;

Launch timed_launch() {
  Launch launch;
  launch.load = LoadReport{.stages = {{"program", 300}, {"method", 900}}};
  launch.measurement = Measurement{.first = {1, 5000, 1}, .warmup_iterations = 1, .iterations = 3};
  launch.measurement->samples = {
      .bind_ns = {9, 7, 7, 7}, .execute_ns = {9000, 1000, 1200, 1100}, .fetch_ns = {9, 3, 3, 3}};
  return launch;
}

TEST(Reduction, HasEveryMetricOfALaunch) {
  const auto reduced = reduce_launch(timed_launch());
  EXPECT_THAT(reduced, Contains(Pair("steady_floor_ns", 1000)));
  EXPECT_THAT(reduced, Contains(Pair("steady_ns", 1100)));
  EXPECT_THAT(reduced, Contains(Pair("first_ns", 5000)));
  EXPECT_THAT(reduced, Contains(Pair("load_ns", 1200)));
  EXPECT_THAT(reduced, Contains(Pair("bind_ns", 7)));
}

TEST(Reduction, LeavesOutWhatWasNotMeasured) {
  auto launch = timed_launch();
  launch.load.reset();
  EXPECT_THAT(reduce_launch(launch), Not(Contains(Key("load_ns"))));
  launch.outcome = Outcome::kCrashed;
  EXPECT_THAT(reduce_launch(launch), IsEmpty());
}

TEST(Reduction, ComparesThePrimaryMetricFirst) {
  EXPECT_THAT(compared_metrics("first_ns"),
              ElementsAre("first_ns", "steady_floor_ns", "steady_ns", "steady_p90_ns", "load_ns"));
  EXPECT_EQ(compared_metrics("bind_ns").front(), "steady_floor_ns");
}

}  // namespace
}  // namespace assay
