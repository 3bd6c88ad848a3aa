#include "assay/summary/steady_part.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "assay/summary/timing.h"
#include "assay/summary/timing_verdict.h"

namespace assay {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A launch whose warm-up is to be found in these times.
Launch detecting_launch(const std::vector<std::int64_t>& execute_ns) {
  Launch launch;
  Measurement measurement{.iterations = static_cast<int>(execute_ns.size()),
                          .detects_warmup = true,
                          .stopped_by = "count"};
  measurement.samples = {.bind_ns = std::vector<std::int64_t>(execute_ns.size(), 7),
                         .execute_ns = execute_ns,
                         .fetch_ns = std::vector<std::int64_t>(execute_ns.size(), 3)};
  launch.measurement = measurement;
  return launch;
}

/// 60 iterations around `level_ns`, of which the first seven are twice as slow.
Launch slow_start(std::int64_t level_ns = 10'000) {
  std::vector<std::int64_t> times;
  for (int i = 0; i < 60; ++i) {
    times.push_back((i < 7 ? 2 : 1) * level_ns + i % 3);
  }
  return detecting_launch(times);
}

/// 60 iterations, each 1 % of the level slower than the one before.
Launch drifting() {
  std::vector<std::int64_t> times;
  for (int i = 0; i < 60; ++i) {
    times.push_back(10'000 + 100 * i);
  }
  return detecting_launch(times);
}

SteadyPart part_of(const Launch& launch) { return find_steady_part(*launch.measurement); }

TEST(SteadyPart, FindsASlowStartOfSevenIterations) {
  const auto part = part_of(slow_start());
  EXPECT_EQ(part.finding, WarmupFinding::kFound);
  EXPECT_EQ(part.first, 5U) << "to a block of five: most of the second one is at the level";
}

TEST(SteadyPart, OfADriftingLaunchIsItsSecondHalfAndUnsteady) {
  const auto part = part_of(drifting());
  EXPECT_EQ(part.finding, WarmupFinding::kUnsteady);
  EXPECT_EQ(part.first, 30U);
}

TEST(SteadyPart, IsNotDisturbedByTheStepOfTheClock) {
  std::vector<std::int64_t> times(60, 40);
  std::ranges::fill_n(times.begin() + 35, 25, 60);
  auto launch = detecting_launch(times);
  EXPECT_EQ(part_of(launch).finding, WarmupFinding::kUnsteady);
  launch.measurement->clock_resolution_ns = 20;
  EXPECT_EQ(part_of(launch).finding, WarmupFinding::kFound);
}

TEST(SteadyPart, OfFewIterationsIsTheSecondHalf) {
  EXPECT_EQ(part_of(detecting_launch({9, 5, 5, 5})).finding, WarmupFinding::kTooFew);
  EXPECT_EQ(part_of(detecting_launch({9, 5, 5, 5})).first, 2U);
  EXPECT_EQ(part_of(detecting_launch({9})).first, 0U);
  EXPECT_EQ(part_of(detecting_launch({})).first, 0U);
}

TEST(SteadyPart, TakesAGivenWarmUpAtItsWord) {
  auto launch = drifting();
  launch.measurement->detects_warmup = false;
  launch.measurement->warmup_iterations = 4;
  EXPECT_EQ(part_of(launch).finding, WarmupFinding::kGiven);
  EXPECT_EQ(part_of(launch).first, 4U);
  launch.measurement->warmup_iterations = 99;
  EXPECT_EQ(part_of(launch).first, 60U);
}

TEST(TimingOfDetectedWarmUp, LeavesTheSlowStartOut) {
  const auto summary = summarize_timing({slow_start(), slow_start(), slow_start()});
  EXPECT_EQ(summary.metrics.at("steady_ns").value, 10'001);
  EXPECT_EQ(summary.metrics.at("steady_p90_ns").value, 10'002) << "20000 with the slow start";
  EXPECT_EQ(summary.metrics.at("bind_ns").value, 7);
  EXPECT_EQ(summary.timing, Timing::kSteady);
  EXPECT_THAT(summary.notes, IsEmpty());
}

TEST(TimingOfDetectedWarmUp, IsUnsteadyWhereMostLaunchesStillMove) {
  const auto summary = summarize_timing({drifting(), drifting(), slow_start()});
  EXPECT_EQ(summary.timing, Timing::kUnsteady);
  EXPECT_EQ(summary.metrics.at("steady_ns").count, 3) << "no launch is dropped";
  EXPECT_THAT(summary.notes, ElementsAre(HasSubstr("2 of 3 launches never became steady; more")));
}

TEST(TimingOfDetectedWarmUp, IsSteadyWhereOneOfThreeStillMovesAtTheLevelOfTheOthers) {
  const auto summary = summarize_timing({slow_start(14'400), drifting(), slow_start(14'400)});
  EXPECT_EQ(summary.timing, Timing::kSteady) << "the median is that of the others";
  EXPECT_THAT(summary.notes, ElementsAre("1 of 3 launches never became steady"));
}

TEST(TimingOfDetectedWarmUp, NamesTheDisturbanceOfAnUnsteadyCase) {
  auto disturbed = drifting();
  disturbed.measurement->major_faults = 7;
  EXPECT_THAT(summarize_timing({disturbed, slow_start()}).notes,
              ElementsAre("1 of 2 launches never became steady; 1 of 2 launches was disturbed: "
                          "pages read from disk while timing: 7; more free memory would help"));
}

TEST(TimingOfDetectedWarmUp, OnlyNotesAQuarterOfUnsteadyLaunches) {
  const auto verdict = judge_timing({.launches = 4, .interval_ratio = 0.01, .unsteady = 1});
  EXPECT_EQ(verdict.timing, Timing::kSteady);
  EXPECT_THAT(verdict.notes, ElementsAre("1 of 4 launches never became steady"));
}

/// 60 iterations whose blocks of five lie 3 % off the level in turn, as on a busy machine.
Launch restless(std::int64_t level_ns) {
  std::vector<std::int64_t> times;
  for (int i = 0; i < 60; ++i) {
    const bool is_high = i < 60 - 5 && i / 5 % 2 == 1;
    times.push_back(level_ns + (is_high ? 3 * level_ns / 100 : i % 3));
  }
  return detecting_launch(times);
}

TEST(TimingOfDetectedWarmUp, IsSteadyWhereLaunchesThatNeverSettleAgreeAndGoNowhere) {
  const auto summary = summarize_timing({restless(10'000), restless(10'100), restless(9'900)});
  EXPECT_EQ(summary.timing, Timing::kSteady);
  EXPECT_THAT(summary.notes, ElementsAre("3 of 3 launches never became steady"));
}

TEST(TimingOfDetectedWarmUp, MayBeOffByHowFarItStillMoves) {
  const auto of = [](const std::vector<Launch>& launches) {
    return summarize_timing(launches).metrics.at("steady_uncertainty_ratio").value;
  };
  EXPECT_NEAR(of({slow_start(10'000), slow_start(10'300), slow_start(9'900)}), 0.03, 1e-4)
      << "the farther end of the interval";
  EXPECT_NEAR(of({drifting(), drifting(), drifting()}), 1500.0 / 14450, 1e-4)
      << "launches agree, and all of them drift";
  EXPECT_FALSE(summarize_timing({drifting()}).metrics.contains("steady_uncertainty_ratio"));
}

TEST(TimingOfDetectedWarmUp, SaysWhenTooFewIterationsWereDone) {
  const auto few = detecting_launch({900, 900, 500, 500, 500});
  auto stopped = few;
  stopped.measurement->stopped_by = "time_budget";
  const auto summary = summarize_timing({few, few, stopped});
  EXPECT_EQ(summary.metrics.at("steady_ns").value, 500);
  EXPECT_EQ(summary.timing, Timing::kSteady);
  EXPECT_THAT(summary.notes, Contains(HasSubstr("3 of 3 launches had too few iterations")));
  EXPECT_THAT(summary.notes, Contains(HasSubstr("the shortest after 3 steady iterations")));
}

}  // namespace
}  // namespace assay
