#include <cstdint>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "assay/record/device_trace.h"
#include "assay/wire/answer_check.h"

namespace assay::wire {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kTraceSecond = 1'000'000'000;

LaunchTraces honest_traces() {
  return {.period_ns = kTraceSecond,
          .start_ns = 500 * kTraceSecond,
          .readings = 2,
          .cpu_ns = 90'000,
          .channels = {{.channel = "temperature:cpu",
                        .unit = "celsius",
                        .times_ns = {499 * kTraceSecond, 500 * kTraceSecond},
                        .micros = {40'000'000, -5}}}};
}

std::string complaint_about_traces(const std::function<void(LaunchTraces&)>& lie) {
  auto traces = honest_traces();
  lie(traces);
  const auto status = check_traces(traces, kTraceSecond, 2 * kTraceSecond);
  return status ? "" : status.error().message;
}

TEST(TraceCheck, TakesTracesThatCanBeTrue) {
  EXPECT_EQ(complaint_about_traces([](LaunchTraces&) {}), "");
  EXPECT_EQ(complaint_about_traces([](LaunchTraces& traces) { traces.channels.clear(); }), "");
  EXPECT_EQ(complaint_about_traces([](LaunchTraces& traces) { traces.period_ns *= 2; }), "")
      << "thinned";
  EXPECT_EQ(complaint_about_traces([](LaunchTraces& traces) {
              traces.channels[0].times_ns[1] = 20'000 * kTraceSecond;
            }),
            "")
      << "the machine slept, which its clock counts and the life of a process does not";
}

TEST(TraceCheck, TellsWhatCannotBe) {
  EXPECT_THAT(complaint_about_traces([](LaunchTraces& traces) { traces.period_ns = 5; }),
              HasSubstr("traces.period_ns"));
  EXPECT_THAT(complaint_about_traces([](LaunchTraces& traces) { traces.start_ns = -1; }),
              HasSubstr("traces.start_ns"));
  EXPECT_THAT(
      complaint_about_traces([](LaunchTraces& traces) { traces.cpu_ns = 90 * kTraceSecond; }),
      HasSubstr("traces.cpu_ns"));
  EXPECT_THAT(complaint_about_traces([](LaunchTraces& traces) { traces.channels[0].unit = "mW"; }),
              HasSubstr("traces.channels[0].unit is 'mW'"));
  EXPECT_THAT(
      complaint_about_traces([](LaunchTraces& traces) { traces.channels[0].micros.pop_back(); }),
      HasSubstr("traces.channels[0].micros"));
  EXPECT_THAT(complaint_about_traces([](LaunchTraces& traces) {
                traces.channels[0].times_ns = {500 * kTraceSecond, 499 * kTraceSecond};
              }),
              HasSubstr("goes back in time"));
  EXPECT_THAT(complaint_about_traces([](LaunchTraces& traces) {
                traces.channels[0].times_ns[1] = 1'000'000 * kTraceSecond;
              }),
              HasSubstr("traces.channels[0].times_ns"));
  EXPECT_THAT(complaint_about_traces(
                  [](LaunchTraces& traces) { traces.channels.push_back(traces.channels[0]); }),
              HasSubstr("'temperature:cpu' twice"));
}

}  // namespace
}  // namespace assay::wire
