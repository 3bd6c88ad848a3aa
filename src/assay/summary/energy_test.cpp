#include "assay/summary/energy.h"

#include <cstdint>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "assay/record/device_trace.h"
#include "assay/record/launch.h"
#include "assay/summary/steady_part.h"
#include "assay/summary/timing.h"

namespace assay {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr std::int64_t kEnergySecond = 1'000'000'000;

/// Readings of a function of the seconds since the series began, twice a second from 3 s before it
/// to 3 s after it.
DeviceTrace metered(const std::string& channel, const std::string& unit,
                    const std::function<double(double)>& value) {
  DeviceTrace trace{.channel = channel, .unit = unit};
  for (int half = -6; half <= 26; ++half) {
    trace.times_ns.push_back(1'000 * kEnergySecond + half * kEnergySecond / 2);
    trace.micros.push_back(static_cast<std::int64_t>(value(half / 2.0) * 1e6));
  }
  return trace;
}

/// 100 inferences of 100 ms in 10 s, all of them steady.
Launch launch_with(std::vector<DeviceTrace> channels) {
  Launch launch;
  launch.measurement = Measurement{.iterations = 100,
                                   .stopped_by = "count",
                                   .inferences = 100,
                                   .inferences_ns = 10 * kEnergySecond,
                                   .wall_ns = 10 * kEnergySecond,
                                   .begin_ns = 1'000 * kEnergySecond,
                                   .end_ns = 1'010 * kEnergySecond};
  launch.measurement->samples = {.bind_ns = std::vector<std::int64_t>(100, 0),
                                 .execute_ns = std::vector<std::int64_t>(100, kEnergySecond / 10),
                                 .fetch_ns = std::vector<std::int64_t>(100, 0)};
  launch.traces = LaunchTraces{.channels = std::move(channels)};
  return launch;
}

TEST(Energy, IsThePowerOverTheSteadyPartDividedByItsInferences) {
  // 1 W idle before and after, 3 W from the begin of the series to its end.
  const auto power = [](double s) { return s >= 0 && s <= 10 ? 3.0 : 1.0; };
  const auto energy = find_energy(launch_with({metered("meter", "watts", power)}), 0);
  EXPECT_EQ(energy.meter, "meter");
  EXPECT_NEAR(energy.joules_per_inference, 0.3, 1e-9);
  EXPECT_NEAR(energy.watts, 3, 1e-9);
}

TEST(Energy, OfACounterIsWhatItRoseBetweenBeginAndEnd) {
  const auto counter = [](double s) { return 500 + 2 * s; };
  const auto energy =
      find_energy(launch_with({metered("energy:package-0", "joules", counter)}), 50);
  EXPECT_NEAR(energy.joules_per_inference, 0.2, 1e-6) << "10 J over the second half";
  EXPECT_NEAR(energy.watts, 2, 1e-6);
}

TEST(Energy, OfACounterThatIsReadSeldomGoesOnToTheEnds) {
  DeviceTrace seldom{.channel = "meter", .unit = "joules"};
  for (int second = 1; second < 10; second += 2) {
    seldom.times_ns.push_back((1'000 + second) * kEnergySecond);
    seldom.micros.push_back(std::int64_t{10'000'000} * second);
  }
  const auto energy = find_energy(launch_with({seldom}), 0);
  EXPECT_NEAR(energy.watts, 10, 1e-6) << energy.unavailable;
  EXPECT_NEAR(energy.joules_per_inference, 1, 1e-6);
}

TEST(Energy, AddsPackagesAndNeitherTheirPartsNorThePlatform) {
  const auto watts = [](double by) { return [by](double s) { return by * s + 100; }; };
  const auto energy = find_energy(launch_with({metered("energy:package-0", "joules", watts(2)),
                                               metered("energy:package-1", "joules", watts(1)),
                                               metered("energy:package-0/core", "joules", watts(9)),
                                               metered("energy:psys", "joules", watts(50)),
                                               metered("power:BAT0", "watts", watts(0))}),
                                  0);
  EXPECT_EQ(energy.meter, "energy:package-0 + energy:package-1");
  EXPECT_NEAR(energy.watts, 3, 1e-6);
}

/// 20 s of inferences of 1 ms, then 40 s of such of 2 ms, of which each `stride`-th has a sample,
/// in as many streams: a device that slows down.
Launch slowing_launch(int stride, int streams) {
  constexpr std::int64_t kMs = 1'000'000;
  Launch launch;
  launch.measurement = Measurement{.duration_ns = 60 * kEnergySecond,
                                   .stride = stride,
                                   .streams = streams,
                                   .inferences = std::int64_t{40'000} * streams,
                                   .inferences_ns = 60 * kEnergySecond,
                                   .wall_ns = 60 * kEnergySecond,
                                   .begin_ns = 1'000 * kEnergySecond,
                                   .end_ns = 1'060 * kEnergySecond};
  auto& samples = launch.measurement->samples;
  samples.execute_ns.assign(20'000 / stride, kMs);
  samples.execute_ns.resize(40'000 / stride, 2 * kMs);
  samples.bind_ns.assign(samples.execute_ns.size(), 0);
  samples.fetch_ns = samples.bind_ns;
  launch.measurement->iterations = static_cast<int>(samples.execute_ns.size());
  DeviceTrace meter{.channel = "meter", .unit = "watts"};
  for (int second = 0; second <= 60; ++second) {
    meter.times_ns.push_back((1'000 + second) * kEnergySecond);
    meter.micros.push_back(10'000'000);
  }
  launch.traces = LaunchTraces{.channels = {meter}};
  return launch;
}

TEST(Energy, CountsTheInferencesOfTheSteadyPartHoweverTheyAreSampled) {
  for (const int stride : {1, 2, 8}) {
    for (const int streams : {1, 3}) {
      const auto launch = slowing_launch(stride, streams);
      const auto first = find_steady_part(*launch.measurement).first;
      EXPECT_NEAR(find_energy(launch, first).joules_per_inference, 0.020 / streams, 2e-5)
          << stride << " " << streams;
    }
  }
}

TEST(Energy, HasNoSubstituteForAMeterThatFailed) {
  auto launch =
      launch_with({metered("energy:package-0", "joules", [](double s) { return s + 9; })});
  launch.traces->unavailable = {{"meter", "ended before the launch did"}};
  const auto energy = find_energy(launch, 0);
  EXPECT_EQ(energy.meter, "");
  EXPECT_EQ(energy.unavailable, "the meter ended before the launch did");
  EXPECT_THAT(summarize_timing({launch}).notes,
              Contains(HasSubstr("no energy per inference: the meter ended")));
  EXPECT_FALSE(summarize_timing({launch}).metrics.contains("energy_per_inference_j"));
}

TEST(Energy, NeedsReadingsAllOverTheSteadyPart) {
  auto sparse = launch_with({metered("meter", "watts", [](double) { return 3; })});
  EXPECT_THAT(find_energy(sparse, 90).unavailable,
              HasSubstr("meter gave 1 of the 5 readings that the steady part of 1 s needs; let the "
                        "meter's command tell more often"));
  auto& trace = sparse.traces->channels[0];
  std::vector<std::int64_t> times;
  for (const auto ns : trace.times_ns) {
    if (ns <= 1'004 * kEnergySecond) {
      times.push_back(ns);
    }
  }
  trace.times_ns = times;
  trace.micros.resize(times.size());
  EXPECT_THAT(find_energy(sparse, 0).unavailable, HasSubstr("gave no reading for 6 s of the 10 s"));
}

TEST(Energy, TellsNothingWithoutAMeter) {
  const auto temperature = metered("temperature:cpu", "celsius", [](double) { return 40; });
  const auto charging = metered("power:BAT0", "watts", [](double) { return -3; });
  const auto energy = find_energy(launch_with({temperature, charging}), 0);
  EXPECT_EQ(energy.meter + energy.unavailable, "");
  EXPECT_EQ(find_energy(Launch(), 0).unavailable, "");
}

TEST(Energy, IsAMetricWithItsMeterNamed) {
  const auto launch = launch_with({metered("meter", "watts", [](double) { return 3; })});
  const auto summary = summarize_timing({launch, launch, launch});
  EXPECT_NEAR(summary.metrics.at("energy_per_inference_j").value, 0.3, 1e-9);
  EXPECT_EQ(summary.metrics.at("mean_power_w").count, 3);
  EXPECT_THAT(summary.notes, Contains("energy and power are those of meter"));
}

}  // namespace
}  // namespace assay
