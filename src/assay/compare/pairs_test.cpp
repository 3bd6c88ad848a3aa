#include "assay/compare/pairs.h"

#include <cmath>
#include <cstdint>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/record/comparison.h"
#include "assay/record/launch.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Launch launch_of(int pair, Side side, std::int64_t ns, std::int64_t major_faults = 0) {
  Launch launch;
  launch.place = PairPlace{.pair = pair, .side = side};
  Measurement measured{.iterations = 3, .wall_ns = 3 * ns, .major_faults = major_faults};
  measured.samples = {.bind_ns = {1, 1, 1}, .execute_ns = {ns, ns, ns}, .fetch_ns = {1, 1, 1}};
  launch.measurement = measured;
  return launch;
}

TEST(Pairs, CountWhenBothSidesAreThere) {
  Pairs pairs;
  pairs.add(launch_of(0, Side::kA, 100));
  EXPECT_EQ(pairs.count(), 0);
  pairs.add(launch_of(0, Side::kB, 110));
  pairs.add(launch_of(0, Side::kCanary, 100));
  EXPECT_EQ(pairs.count(), 1);
  EXPECT_THAT(pairs.logs("steady_floor_ns").b, ElementsAre(std::log(110.0)));
}

TEST(Pairs, LeaveOutWhatWasReplaced) {
  Pairs pairs;
  for (int pair = 0; pair < 3; ++pair) {
    pairs.add(launch_of(pair, Side::kA, 100 + pair));
    pairs.add(launch_of(pair, Side::kB, 200 + pair));
  }
  pairs.replace(1);
  EXPECT_EQ(pairs.count(), 2);
  EXPECT_THAT(pairs.logs("steady_floor_ns").a, ElementsAre(std::log(100.0), std::log(102.0)));
  EXPECT_THAT(pairs.replaced(), ElementsAre(1));
}

TEST(Pairs, AreDisturbedByEitherSideButNotByTheCanary) {
  Pairs pairs;
  pairs.add(launch_of(0, Side::kA, 100));
  pairs.add(launch_of(0, Side::kB, 100, /*major_faults=*/3));
  pairs.add(launch_of(1, Side::kA, 100));
  pairs.add(launch_of(1, Side::kCanary, 100, /*major_faults=*/3));
  EXPECT_TRUE(pairs.is_disturbed(0));
  EXPECT_FALSE(pairs.is_disturbed(1));
  EXPECT_EQ(pairs.count_disturbed(), 1);
  EXPECT_THAT(pairs.replaced(), IsEmpty()) << "what to do about it is the comparison's business";
}

}  // namespace
}  // namespace assay
