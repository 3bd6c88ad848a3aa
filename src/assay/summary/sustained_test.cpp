#include "assay/summary/sustained.h"

#include <cstdint>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/record/axes.h"
#include "assay/record/launch.h"
#include "assay/record/summary.h"
#include "assay/summary/steady_part.h"
#include "assay/summary/timing.h"

namespace assay {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kMinuteNs = 60'000'000'000;

/// Inferences for three minutes, each as long as `execute_ns` says of the minutes since the start.
Measurement sustained(const std::function<double(double)>& execute_ns) {
  Measurement measurement{.stopped_by = "duration", .duration_ns = 3 * kMinuteNs};
  for (std::int64_t at = 0; at < 3 * kMinuteNs;) {
    const auto ns = static_cast<std::int64_t>(
        execute_ns(static_cast<double>(at) / static_cast<double>(kMinuteNs)));
    measurement.samples.bind_ns.push_back(0);
    measurement.samples.execute_ns.push_back(ns);
    measurement.samples.fetch_ns.push_back(0);
    at += ns;
    measurement.wall_ns = at;
  }
  measurement.iterations = static_cast<int>(measurement.samples.execute_ns.size());
  return measurement;
}

TEST(Sustained, IsTheMedianOfTheLastThirdOfTheTime) {
  // A clock that falls to a half after two minutes: fewer inferences there, and still a third.
  const auto throttled = sustained([](double minute) { return minute < 2 ? 10e6 : 20e6; });
  const auto metrics = summarize_sustained({&throttled});
  EXPECT_EQ(metrics.at("sustained_ns").value, 20e6);
  EXPECT_EQ(metrics.at("sustained_ratio").value, 2);
  EXPECT_EQ(metrics.at("sustained_slope_percent_per_min").value, 0) << "it is steady again";
  const auto part = find_steady_part(throttled);
  EXPECT_EQ(part.finding, WarmupFinding::kSustained);
  EXPECT_NEAR(static_cast<double>(part.first), 12'000, 2);
}

TEST(Sustained, HasTheSlopeOfItsLastThird) {
  // 10 ms and 2 % of it more each minute; the level of the last third is that of minute 2.5.
  const auto drifting = sustained([](double minute) { return 10e6 * (1 + 0.02 * minute); });
  const auto slope = summarize_sustained({&drifting}).at("sustained_slope_percent_per_min");
  EXPECT_NEAR(slope.value, 2 / 1.05, 0.02);
  ASSERT_TRUE(slope.low && slope.high);
  EXPECT_LE(*slope.low, slope.value);
  EXPECT_GE(*slope.high, slope.value);
  EXPECT_GE(slope.confidence, 0.95);
}

TEST(Sustained, HasNoRateAMinuteOfALaunchOfSeconds) {
  // Four seconds of noise: Theil and Sen's line through the last 1.3 s means nothing for a minute.
  auto brief = sustained([](double) { return 10e6; });
  brief.samples.execute_ns.resize(400);
  brief.samples.bind_ns.resize(400);
  brief.samples.fetch_ns.resize(400);
  brief.iterations = 400;
  brief.duration_ns = brief.wall_ns = 4'000'000'000;
  const auto metrics = summarize_sustained({&brief});
  EXPECT_FALSE(metrics.contains("sustained_slope_percent_per_min"));
  EXPECT_EQ(metrics.at("sustained_ratio").value, 1);
}

TEST(Sustained, TellsATrendOnlyWhereItsIntervalLeavesZeroOut) {
  const auto note_of = [](const Measurement& measurement) {
    return summarize_timing({{.outcome = Outcome::kCompleted, .measurement = measurement}})
        .notes.at(0);
  };
  EXPECT_THAT(note_of(sustained([](double minute) { return 10e6 * (1 + 0.02 * minute); })),
              HasSubstr("first third, where it changed by +1.9"));
  int turn = 0;
  EXPECT_THAT(note_of(sustained([&](double) { return 10e6 + 1e5 * (turn++ * 7 % 11); })),
              HasSubstr("first third, where no trend shows: "));
}

TEST(Sustained, TakesTheMedianOfSeveralLaunches) {
  const auto a = sustained([](double) { return 10e6; });
  const auto b = sustained([](double) { return 12e6; });
  const auto c = sustained([](double) { return 11e6; });
  const auto metrics = summarize_sustained({&a, &b, &c});
  EXPECT_EQ(metrics.at("sustained_ns").value, 11e6);
  EXPECT_EQ(metrics.at("sustained_ns").count, 3);
  EXPECT_EQ(metrics.at("sustained_slope_percent_per_min").count, 3);
}

TEST(Sustained, HasNoSlopeOfAFewInferencesAndNothingOfABurst) {
  const auto few = sustained([](double) { return 20e9; });
  EXPECT_FALSE(summarize_sustained({&few}).contains("sustained_slope_percent_per_min"));
  EXPECT_TRUE(summarize_sustained({&few}).contains("sustained_ns"));
  const Measurement burst{.iterations = 50};
  EXPECT_TRUE(summarize_sustained({&burst}).empty());
}

}  // namespace
}  // namespace assay
