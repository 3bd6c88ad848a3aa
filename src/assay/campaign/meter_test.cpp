#include "assay/campaign/meter.h"

#include <chrono>
#include <cstdint>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/result.h"
#include "assay/campaign/metered_spawn.h"
#include "assay/record/device_trace.h"

namespace assay {
namespace {

using testing::Each;
using testing::Ge;
using testing::HasSubstr;

std::vector<std::string> scripted_meter(const std::string& script) {
  return {"/bin/sh", "-c", script};
}

/// Trace of a meter that is started, left alone for a while and stopped.
Result<DeviceTrace> metered(const std::string& script) {
  ASSAY_ASSIGN_OR_RETURN(const auto meter, Meter::start(scripted_meter(script)));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  return meter->stop();
}

std::string failure_of(const std::string& script) {
  const auto trace = metered(script);
  return trace ? "" : trace.error().message;
}

TEST(Meter, ReadsWattsOrJoulesWithTheirTime) {
  const auto power = meter_reading_from_line(R"({"unix_ns": 1700000000000000000, "watts": 3.25})");
  ASSERT_TRUE(power.has_value());
  EXPECT_EQ(power->unix_ns, 1'700'000'000'000'000'000);
  EXPECT_FALSE(power->is_energy);
  EXPECT_EQ(power->micros, 3'250'000);
  const auto energy = meter_reading_from_line(R"({"joules": 71.5, "port": 3})");
  ASSERT_TRUE(energy.has_value()) << "other fields are the meter's own";
  EXPECT_TRUE(energy->is_energy);
  EXPECT_EQ(energy->unix_ns, 0);
}

TEST(Meter, RefusesLinesThatAreNoReading) {
  for (const std::string line :
       {"3.2", "watts 3", "{}", R"({"watts": "3"})", R"({"watts": 1, "joules": 2})",
        R"({"watts": 1e99})", R"({"watts": 1, "unix_ns": 1.5})", "[1]"}) {
    const auto reading = meter_reading_from_line(line);
    ASSERT_FALSE(reading.has_value()) << line;
    EXPECT_THAT(reading.error().message, HasSubstr("is no reading"));
  }
}

TEST(Meter, GivesLinesTheTimeAtWhichTheyCome) {
  const auto begin_ns = boottime_ns();
  const auto trace = metered("while :; do echo '{\"watts\": 2.5}'; sleep 0.01; done");
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  EXPECT_EQ(trace->channel, "meter");
  EXPECT_EQ(trace->unit, "watts");
  EXPECT_THAT(trace->micros, Each(2'500'000));
  EXPECT_THAT(trace->times_ns, Each(Ge(begin_ns)));
}

TEST(Meter, TakesTheTimesOfTheMeterWhereItTellsThem) {
  const auto earlier_ns = unix_time_ns() - 60'000'000'000;
  const auto trace =
      metered("echo '{\"joules\": 1, \"unix_ns\": " + std::to_string(earlier_ns) + "}'; sleep 60");
  ASSERT_TRUE(trace.has_value());
  EXPECT_EQ(trace->unit, "joules");
  const auto age_ns = boottime_ns() - trace->times_ns.at(0);
  EXPECT_GE(age_ns, 60'000'000'000);
  EXPECT_LT(age_ns, 120'000'000'000);
}

TEST(Meter, TellsHowItFailed) {
  EXPECT_THAT(failure_of("echo '{\"watts\": 1}'; exit 3"),
              HasSubstr("ended before the launch did (readings until then: 1)"));
  EXPECT_THAT(failure_of("echo '{\"watts\": 1}'; echo calibrating; sleep 60"),
              HasSubstr("printed 'calibrating', which is no reading"));
  EXPECT_THAT(failure_of("echo '{\"joules\": 2}'; echo '{\"joules\": 1}'; sleep 60"),
              HasSubstr("counted backwards"));
  EXPECT_THAT(failure_of("echo '{\"watts\": 2}'; echo '{\"joules\": 1}'; sleep 60"),
              HasSubstr("both watts and joules"));
  EXPECT_EQ(Meter::start({"/nowhere/meter"}).error().code, ErrorCode::kNotFound);
}

TEST(Meter, EndsACommandThatIgnoresTheRequestToEnd) {
  const auto meter = Meter::start(
      scripted_meter("trap '' TERM; echo '{\"watts\": 1}'; while :; do sleep 0.05; done"));
  ASSERT_TRUE(meter.has_value());
  EXPECT_TRUE((*meter)->stop().has_value());
}

TEST(MeteredSpawn, KeepsNoReadingsOfTheTimeBeforeTheProcess) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  DeviceTrace trace{.channel = "meter", .unit = "watts"};
  for (int second = 0; second < 100; ++second) {
    trace.times_ns.push_back(second * kSecond);
    trace.micros.push_back(second);
  }
  drop_early_readings(90 * kSecond, trace);
  EXPECT_EQ(trace.times_ns.front(), 89 * kSecond);
  EXPECT_EQ(trace.micros.front(), 89);
  EXPECT_EQ(trace.times_ns.size(), trace.micros.size());
  drop_early_readings(0, trace);
  EXPECT_EQ(trace.times_ns.size(), 11U);
  auto slow = trace;
  drop_early_readings(slow.times_ns.back() + 30 * kSecond, slow);
  EXPECT_THAT(slow.times_ns, testing::ElementsAre(trace.times_ns.back()))
      << "what a slow meter read last before the start";
  EXPECT_EQ(slow.micros.size(), 1U);
  drop_early_readings(1'000 * kSecond, trace);
  EXPECT_TRUE(trace.times_ns.empty() && trace.micros.empty()) << "too old to tell anything";
}

}  // namespace
}  // namespace assay
