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
  IterationPilot pilot;
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

TEST(IterationPilot, SaysNothingOfTooLittle) {
  IterationPilot pilot;
  EXPECT_EQ(pilot.iterations(), std::nullopt);
  pilot.add(Launch{});
  pilot.add(launch_of(kMillisecond, 0, kMillisecond));
  EXPECT_EQ(pilot.launches(), 1U);
  EXPECT_EQ(pilot.iterations(), std::nullopt);
}

}  // namespace
}  // namespace assay
