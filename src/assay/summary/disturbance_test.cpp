#include "assay/summary/disturbance.h"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "assay/summary/timing.h"

namespace assay {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// One thread that computed for all of its second, on a machine that tells everything.
Launch quiet_launch(std::int64_t level_ns = 1000) {
  Launch launch;
  launch.load = LoadReport{.effective_options = {{"threads", 1}}};
  launch.before = {.cpu_pressure_avg10 = 1,
                   .memory_pressure_avg10 = 0,
                   .io_pressure_avg10 = 2,
                   .steal_ticks = 100,
                   .total_ticks = 1000,
                   .frequency_hz = 2e9,
                   .throttle_count = 4};
  launch.after = launch.before;
  launch.after.total_ticks = 2000;
  launch.measurement = Measurement{.iterations = 3,
                                   .wall_ns = 1'000'000'000,
                                   .cpu_ns = 990'000'000,
                                   .run_queue_wait_ns = 1'000'000,
                                   .involuntary_switches = 5};
  launch.measurement->samples = {
      .bind_ns = {1, 1, 1}, .execute_ns = {level_ns, level_ns, level_ns}, .fetch_ns = {1, 1, 1}};
  return launch;
}

std::vector<std::string> flags_of(const Launch& launch) {
  std::vector<std::string> flags;
  for (const auto& disturbance : find_disturbances(launch)) {
    flags.push_back(disturbance.flag);
  }
  return flags;
}

/// The flags of a quiet launch that something happened to.
std::vector<std::string> flags_after(const std::function<void(Launch&)>& happening) {
  auto launch = quiet_launch();
  happening(launch);
  return flags_of(launch);
}

TEST(Disturbance, IsAFrequencyOffTheOneThatWasSet) {
  const auto set = [](double before_hz, double after_hz) {
    return flags_after([=](Launch& l) {
      l.before.set_frequency_hz = l.after.set_frequency_hz = 2e9;
      l.before.frequency_hz = before_hz;
      l.after.frequency_hz = after_hz;
    });
  };
  EXPECT_THAT(set(1.95e9, 2.05e9), Not(Contains("frequency_missed")));
  EXPECT_THAT(set(2e9, 1.5e9), Contains("frequency_missed"));
  EXPECT_THAT(set(1.5e9, 1.5e9), ElementsAre("frequency_missed"));
}

TEST(Disturbance, IsNotSeenInAQuietLaunchNorWhereTheSystemTellsNothing) {
  EXPECT_THAT(flags_of(quiet_launch()), IsEmpty());
  EXPECT_THAT(flags_of(Launch{}), IsEmpty());
}

TEST(Disturbance, EachSignRaisesItsOwnFlag) {
  const auto only = [](const char* flag) { return ElementsAre(std::string(flag)); };
  EXPECT_THAT(flags_after([](Launch& l) { l.after.steal_ticks = 111; }), only("steal"));
  EXPECT_THAT(flags_after([](Launch& l) { l.after.throttle_count = 5; }), only("throttling"));
  EXPECT_THAT(flags_after([](Launch& l) { l.after.frequency_hz = 1.9e9; }),
              only("frequency_change"));
  EXPECT_THAT(flags_after([](Launch& l) { l.measurement->run_queue_wait_ns = 21'000'000; }),
              only("run_queue_wait"));
  EXPECT_THAT(flags_after([](Launch& l) { l.measurement->cpu_ns = 940'000'000; }), only("idle"));
  EXPECT_THAT(flags_after([](Launch& l) { l.before.cpu_pressure_avg10 = 5.1; }),
              only("cpu_pressure"));
  EXPECT_THAT(flags_after([](Launch& l) { l.measurement->involuntary_switches = 21; }),
              only("involuntary_switches"));
  EXPECT_THAT(flags_after([](Launch& l) { l.measurement->major_faults = 1; }),
              only("major_faults"));
  EXPECT_THAT(flags_after([](Launch& l) { l.before.memory_pressure_avg10 = 6; }),
              only("memory_pressure"));
  EXPECT_THAT(flags_after([](Launch& l) { l.before.io_pressure_avg10 = 6; }), only("io_pressure"));
}

TEST(Disturbance, IsNotSeenAtTheThresholdItself) {
  EXPECT_THAT(flags_after([](Launch& l) { l.after.steal_ticks = 110; }), IsEmpty());
  EXPECT_THAT(flags_after([](Launch& l) { l.measurement->involuntary_switches = 20; }), IsEmpty());
  EXPECT_THAT(flags_after([](Launch& l) { l.before.cpu_pressure_avg10 = 5; }), IsEmpty());
}

TEST(Disturbance, OfOneCountIsTheStepOfTheCounter) {
  EXPECT_THAT(flags_after([](Launch& l) {
                l.after.steal_ticks = 101;
                l.after.total_ticks = 1020;
              }),
              IsEmpty());
  EXPECT_THAT(flags_after([](Launch& l) {
                l.measurement->wall_ns = 10'000'000;
                l.measurement->cpu_ns = 10'000'000;
                l.measurement->run_queue_wait_ns = 0;
                l.measurement->involuntary_switches = 1;
              }),
              IsEmpty());
}

TEST(Disturbance, IdleTimeSaysNothingOfAPoolOrWithGaps) {
  EXPECT_THAT(flags_after([](Launch& l) {
                l.measurement->cpu_ns = 500'000'000;
                l.load->effective_options = {{"threads", 2}};
              }),
              IsEmpty());
  EXPECT_THAT(flags_after([](Launch& l) {
                l.measurement->cpu_ns = 500'000'000;
                l.measurement->gap_ns = 1'000'000;
              }),
              IsEmpty());
}

TEST(Disturbance, NeverLooksAtTheTimes) {
  auto launch = quiet_launch();
  launch.measurement->samples.execute_ns = {1, 1'000'000'000, 5};
  EXPECT_THAT(flags_of(launch), IsEmpty());
}

TEST(Disturbance, NoteNamesTheFlagOfMostLaunchesAndItsLargestValue) {
  auto stolen = quiet_launch();
  stolen.after.steal_ticks = 220;
  auto less_stolen = quiet_launch();
  less_stolen.after.steal_ticks = 150;
  less_stolen.measurement->major_faults = 2;
  const std::vector flags = {find_disturbances(stolen), find_disturbances(less_stolen),
                             find_disturbances(quiet_launch())};
  EXPECT_EQ(note_of(gather_disturbances(flags)),
            "2 of 3 launches were disturbed: the machine lost up to 12 % of its time to its host "
            "(steal); a quieter machine would help");
  EXPECT_EQ(note_of(gather_disturbances({})), "");
}

TEST(Disturbance, IsTheReasonOfAWideSpreadWhenMoreThanAFifthHaveIt) {
  std::vector<Launch> launches = {quiet_launch(1000), quiet_launch(1300), quiet_launch(1010)};
  launches[1].after.steal_ticks = 220;
  const auto summary = summarize_timing(launches);
  EXPECT_EQ(summary.timing, Timing::kInconclusive);
  EXPECT_THAT(
      summary.notes,
      ElementsAre("3 launches leave their median open by 30 % (75 % interval); 1 of 3 launches was "
                  "disturbed: the machine lost 12 % of its time to its host (steal); a quieter "
                  "machine would help"));
}

TEST(Disturbance, OfFewLaunchesIsNotTheReasonButShown) {
  std::vector<Launch> launches;
  for (int i = 0; i < 10; ++i) {
    launches.push_back(quiet_launch(i < 5 ? 1000 : 1300));
  }
  launches[2].measurement->major_faults = 1;
  const auto summary = summarize_timing(launches);
  EXPECT_EQ(summary.timing, Timing::kInconclusive);
  EXPECT_THAT(summary.notes, Contains(HasSubstr("open by 26 % (75 % interval); more launches")));
  EXPECT_THAT(summary.notes, Contains(HasSubstr("1 of 10 launches was disturbed: pages read")));
}

TEST(Disturbance, DoesNotChangeTheVerdictOfLaunchesThatAgree) {
  std::vector<Launch> launches(3, quiet_launch());
  for (auto& launch : launches) {
    launch.before.cpu_pressure_avg10 = 50;
  }
  const auto summary = summarize_timing(launches);
  EXPECT_EQ(summary.timing, Timing::kSteady);
  EXPECT_EQ(summary.metrics.at("steady_ns").count, 3) << "no launch is dropped";
  EXPECT_THAT(summary.notes, ElementsAre(HasSubstr("3 of 3 launches were disturbed: other work")));
}

}  // namespace
}  // namespace assay
