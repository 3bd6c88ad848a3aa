#include "assay/supervise/trace_sampler.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <thread>

#include "assay/base/clock.h"
#include "assay/device/testing/sample_root.h"
#include "assay/record/device_trace.h"

namespace assay {
namespace {

constexpr std::int64_t kSampleMs = 1'000'000;
constexpr const char* kZone = "sys/class/thermal/thermal_zone0/";

SampleRoot warm_board() {
  SampleRoot root;
  root.with(std::string(kZone) + "type", "cpu\n").with(std::string(kZone) + "temp", "40000\n");
  return root;
}

TEST(TraceSampler, ReadsOverTimeWithTimesOfTheBootClock) {
  const auto root = warm_board();
  const auto begin_ns = boottime_ns();
  TraceSampler sampler(5 * kSampleMs, root.path());
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  // Over the old text: a file that is cut first can be read while it is empty.
  std::fstream(root.path() / kZone / "temp", std::ios::in | std::ios::out) << "55000\n";
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto traces = sampler.stop();
  EXPECT_EQ(traces.period_ns, 5 * kSampleMs);
  EXPECT_GT(traces.cpu_ns, 0);
  ASSERT_EQ(traces.channels.size(), 1U);
  const auto& [channel, unit, times_ns, micros] = traces.channels[0];
  EXPECT_EQ(channel, "temperature:cpu");
  EXPECT_EQ(unit, "celsius");
  EXPECT_GE(micros.size(), 3U);
  EXPECT_EQ(times_ns.size(), micros.size());
  EXPECT_EQ(traces.readings, static_cast<std::int64_t>(micros.size()));
  EXPECT_EQ(micros.front(), 40'000'000);
  EXPECT_EQ(micros.back(), 55'000'000);
  EXPECT_TRUE(std::ranges::is_sorted(times_ns));
  EXPECT_GE(times_ns.front(), begin_ns);
  EXPECT_LE(times_ns.back(), boottime_ns());
  EXPECT_GE(traces.start_ns, times_ns.front()) << "the process starts after the first reading";
}

TEST(TraceSampler, ReadsBeforeAndAfterALaunchShorterThanThePeriod) {
  const auto root = warm_board();
  TraceSampler sampler(3'600'000 * kSampleMs, root.path());
  const auto traces = sampler.stop();
  ASSERT_EQ(traces.channels.size(), 1U);
  EXPECT_EQ(traces.channels[0].micros.size(), 2U);
}

TEST(TraceSampler, ReadsNothingWithoutAPeriod) {
  const auto root = warm_board();
  TraceSampler sampler(0, root.path());
  EXPECT_TRUE(sampler.stop().channels.empty());
}

TEST(TraceSampler, TellsAChannelThatGaveNoReading) {
  SampleRoot root;
  root.with(std::string(kZone) + "type", "gpu\n").with(std::string(kZone) + "temp", "-274000\n");
  const auto traces = TraceSampler(1'000 * kSampleMs, root.path()).stop();
  EXPECT_TRUE(traces.channels.empty());
  ASSERT_EQ(traces.unavailable.size(), 1U);
  EXPECT_EQ(traces.unavailable[0].channel, "temperature:gpu");
}

}  // namespace
}  // namespace assay
