#include "assay/summary/trace_notes.h"

#include <cstdint>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

#include "assay/record/device_trace.h"
#include "assay/record/launch.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kNoteSecond = 1'000'000'000;

DeviceTrace trace_of(const char* channel, const char* unit, const std::vector<double>& values) {
  DeviceTrace trace{.channel = channel, .unit = unit};
  for (const double value : values) {
    trace.times_ns.push_back((100 + static_cast<std::int64_t>(trace.times_ns.size())) *
                             kNoteSecond);
    trace.micros.push_back(static_cast<std::int64_t>(value * 1e6));
  }
  return trace;
}

/// A process from the second reading to the one before the last.
Launch launch_with(const std::vector<double>& celsius, const std::vector<double>& hz) {
  Launch launch;
  launch.end.wall_ns = static_cast<std::int64_t>(hz.size() - 3) * kNoteSecond;
  launch.traces =
      LaunchTraces{.start_ns = 101 * kNoteSecond,
                   .channels = {trace_of("temperature:cpu", "celsius", celsius),
                                trace_of("temperature:case", "celsius", {20, 20, 20, 20, 20, 20}),
                                trace_of("frequency:policy0", "hz", hz)}};
  return launch;
}

TEST(TraceNotes, TellThrottling) {
  const auto hot = launch_with({30, 45, 50, 60, 70, 75, 80, 80},
                               {1e9, 2.4e9, 2.4e9, 2.4e9, 2e9, 1.8e9, 1.8e9, 1e9});
  const auto cold = launch_with({30, 31, 31, 31, 31, 31, 31, 31},
                                {1e9, 2.4e9, 2.4e9, 2.4e9, 2.4e9, 2.4e9, 2.4e9, 1e9});
  EXPECT_THAT(notes_of_traces(std::vector{hot, cold}),
              ElementsAre("1 of 2 launches was throttled: frequency:policy0 fell from 2.40 to 1.80 "
                          "GHz while temperature:cpu rose from 48 to 78 °C"));
}

TEST(TraceNotes, TakeAFallWithoutHeatForTheGovernorsChoice) {
  EXPECT_THAT(notes_of_traces(std::vector{launch_with({40, 40, 40, 40, 40, 40, 40, 40},
                                                      {2e9, 2e9, 2e9, 2e9, 1e9, 1e9, 1e9, 1e9})}),
              IsEmpty());
}

TEST(TraceNotes, LeaveOutReadingsBeforeAndAfterTheProcess) {
  EXPECT_THAT(notes_of_traces(std::vector{launch_with({30, 40, 44, 44, 44, 44, 44, 44},
                                                      {9e9, 2e9, 2e9, 2e9, 2e9, 2e9, 2e9, 1e8})}),
              IsEmpty());
}

TEST(TraceNotes, SayNothingOfAFewReadingsOrNone) {
  EXPECT_THAT(notes_of_traces(std::vector{launch_with({30, 80, 90}, {2e9, 1e9, 1e9}), Launch()}),
              IsEmpty());
}

}  // namespace
}  // namespace assay
