#include "assay/campaign/iterations.h"

#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <optional>
#include <vector>

#include "assay/record/launch.h"

namespace assay {
namespace {

/// Forty iterations of `level_ns` and, in turn, `spread_ns` more, in a process that took `wall_ns`.
Launch launch_of(std::int64_t level_ns, std::int64_t spread_ns, std::int64_t wall_ns) {
  std::vector<std::int64_t> times;
  for (std::size_t i = 0; i < 40; ++i) {
    times.push_back(level_ns + (i % 2 == 0 ? 0 : spread_ns));
  }
  Launch launch;
  launch.end.wall_ns = wall_ns;
  launch.measurement = Measurement{.iterations = 40};
  launch.measurement->samples.execute_ns = times;
  return launch;
}

IterationPilot pilot_of(const std::vector<Launch>& launches) {
  IterationPilot pilot(launches.size());
  for (const auto& launch : launches) {
    pilot.add(launch);
  }
  return pilot;
}

constexpr std::int64_t kMillisecond = 1'000'000;

TEST(IterationPilot, AsksForFewWhereLaunchesDifferAnyway) {
  const auto pilot = pilot_of({launch_of(kMillisecond, 1000, 50 * kMillisecond),
                               launch_of(2 * kMillisecond, 1000, 90 * kMillisecond)});
  EXPECT_EQ(pilot.iterations(), 20);
}

TEST(IterationPilot, AsksForManyWhereLaunchesAgreeAndStartSlowly) {
  const auto pilot = pilot_of({launch_of(kMillisecond, kMillisecond, 5000 * kMillisecond),
                               launch_of(kMillisecond, kMillisecond, 5000 * kMillisecond)});
  EXPECT_EQ(pilot.iterations(), 200);
}

TEST(IterationPilot, WeighsTheStartOfALaunchAgainstAnIteration) {
  const auto iterations_at = [](std::int64_t wall_ms) {
    return pilot_of({launch_of(kMillisecond, kMillisecond / 10, wall_ms * kMillisecond),
                     launch_of(kMillisecond + kMillisecond / 20, kMillisecond / 10,
                               wall_ms * kMillisecond)})
        .iterations()
        .value_or(0);
  };
  // Four times the cost of a launch is worth twice the iterations.
  const int few = iterations_at(1500);
  const int many = iterations_at(6000);
  EXPECT_GT(few, 20);
  EXPECT_LT(many, 200);
  EXPECT_NEAR(many, 2 * few, 2);
}

TEST(IterationPilot, SaysNothingBeforeItHasTheLaunchesItNeeds) {
  IterationPilot pilot(3);
  EXPECT_EQ(pilot.iterations(), std::nullopt);
  pilot.add(launch_of(kMillisecond, 1000, 50 * kMillisecond));
  pilot.add(Launch{});
  pilot.add(launch_of(2 * kMillisecond, 1000, 90 * kMillisecond));
  EXPECT_EQ(pilot.iterations(), std::nullopt) << "what was not timed does not count";
  pilot.add(launch_of(3 * kMillisecond, 1000, 130 * kMillisecond));
  EXPECT_EQ(pilot.iterations(), 20);
}

TEST(IterationPilot, SaysNothingOfLaunchesThatWereCutShort) {
  auto cut = launch_of(kMillisecond, 1000, 50 * kMillisecond);
  cut.measurement->samples.execute_ns.resize(2);
  const auto whole = launch_of(2 * kMillisecond, 1000, 90 * kMillisecond);
  EXPECT_EQ(pilot_of({whole, cut}).iterations(), std::nullopt);
  cut = whole;
  cut.measurement->samples.execute_ns.resize(3);
  EXPECT_TRUE(pilot_of({whole, cut}).iterations().has_value());
}

TEST(IterationPilot, LearnsNothingFromLaterLaunches) {
  const auto alike = launch_of(kMillisecond, kMillisecond, 5000 * kMillisecond);
  IterationPilot pilot(2);
  pilot.add(alike);
  pilot.add(alike);
  for (std::int64_t level = 2; level < 6; ++level) {
    pilot.add(launch_of(level * kMillisecond, 0, 50 * kMillisecond));
  }
  EXPECT_EQ(pilot.iterations(), 200);
}

TEST(WithIterations, LetsTheLeastNumberGiveWay) {
  const MeasurePlan plan{.iterations = 50, .min_iterations = 30, .gap_ns = 5};
  const auto few = with_iterations(plan, 20);
  EXPECT_EQ(few.iterations, 20);
  EXPECT_EQ(few.min_iterations, 20);
  EXPECT_EQ(few.gap_ns, 5);
  EXPECT_EQ(with_iterations(plan, 200).min_iterations, 30);
}

}  // namespace
}  // namespace assay
