#include "assay/device/trace_channels.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <string>

#include "assay/device/testing/sample_root.h"

namespace assay {
namespace {

using testing::HasSubstr;

/// Reads a channel by its name; nullopt too if there is none.
std::optional<std::int64_t> reading(TraceChannels& channels, const std::string& name) {
  for (std::size_t i = 0; i < channels.channels().size(); ++i) {
    if (channels.channels()[i].name == name) {
      return channels.read(i);
    }
  }
  return std::nullopt;
}

TEST(TraceChannels, AreNoneWhereTheSystemTellsNothing) {
  const SampleRoot root;
  const auto channels = TraceChannels::open(root.path());
  EXPECT_TRUE(channels.channels().empty());
  EXPECT_TRUE(channels.unavailable().empty());
}

TEST(TraceChannels, TellZonesByTypeAndClustersByPolicy) {
  SampleRoot root;
  root.with("sys/class/thermal/thermal_zone0/type", "cpu-thermal\n")
      .with("sys/class/thermal/thermal_zone0/temp", "38500\n")
      .with("sys/class/thermal/thermal_zone1/type", "cpu-thermal\n")
      .with("sys/class/thermal/thermal_zone1/temp", "-274000\n")
      .with("sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq", "1800000\n")
      .with("sys/devices/system/cpu/cpufreq/policy4/scaling_cur_freq", "2400000\n")
      .with("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "1\n");
  auto channels = TraceChannels::open(root.path());
  EXPECT_EQ(channels.channels().size(), 4U) << "cores only where there is no policy";
  EXPECT_EQ(reading(channels, "temperature:cpu-thermal"), 38'500'000);
  EXPECT_EQ(reading(channels, "temperature:cpu-thermal#2"), std::nullopt) << "has no sensor";
  EXPECT_EQ(reading(channels, "frequency:policy0"), 1'800'000'000'000'000);
  EXPECT_EQ(reading(channels, "frequency:policy4"), 2'400'000'000'000'000);
}

TEST(TraceChannels, TellFrequenciesOfCoresWithoutPolicies) {
  SampleRoot root;
  root.with("sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "300000\n")
      .with("sys/devices/system/cpu/cpu0/topology/core_id", "0\n");
  auto channels = TraceChannels::open(root.path());
  ASSERT_EQ(channels.channels().size(), 1U);
  EXPECT_EQ(reading(channels, "frequency:cpu1"), 300'000'000'000'000);
}

TEST(TraceChannels, TellThePowerOfABatteryInOneSign) {
  SampleRoot root;
  root.with("sys/class/power_supply/usb/type", "USB\n")
      .with("sys/class/power_supply/usb/power_now", "1\n")
      .with("sys/class/power_supply/hidpp_battery_0/type", "Battery\n")
      .with("sys/class/power_supply/hidpp_battery_0/scope", "Device\n")
      .with("sys/class/power_supply/hidpp_battery_0/power_now", "2\n")
      .with("sys/class/power_supply/BAT0/type", "Battery\n")
      .with("sys/class/power_supply/BAT0/status", "Discharging\n")
      .with("sys/class/power_supply/BAT0/power_now", "4500000\n")
      .with("sys/class/power_supply/battery/type", "Battery\n")
      .with("sys/class/power_supply/battery/status", "Charging\n")
      .with("sys/class/power_supply/battery/voltage_now", "4000000\n")
      .with("sys/class/power_supply/battery/current_now", "500000\n");
  auto channels = TraceChannels::open(root.path());
  EXPECT_EQ(channels.channels().size(), 2U);
  EXPECT_EQ(reading(channels, "power:BAT0"), 4'500'000);
  EXPECT_EQ(reading(channels, "power:battery"), -2'000'000);
}

TEST(TraceChannels, GoOnCountingWhereACounterStartsAnew) {
  SampleRoot root;
  const std::string zone = "sys/class/powercap/intel-rapl:0/";
  const auto counter = root.path() / (zone + "energy_uj");
  root.with(zone + "name", "package-0\n")
      .with(zone + "max_energy_range_uj", "262143328850\n")
      .with(zone + "energy_uj", "262143000000\n")
      .with("sys/class/powercap/intel-rapl:0:0/name", "core\n")
      .with("sys/class/powercap/intel-rapl:0:0/energy_uj", "5\n");
  auto channels = TraceChannels::open(root.path());
  const auto before = reading(channels, "energy:package-0");
  ASSERT_EQ(before, 262'143'000'000);
  std::filesystem::resize_file(counter, 0);
  std::ofstream(counter) << "671150\n";  // In place: the file stays open.
  EXPECT_EQ(reading(channels, "energy:package-0"), 262'143'328'850 + 671'150);
  EXPECT_EQ(reading(channels, "energy:package-0/core"), 5);
}

TEST(TraceChannels, TellRailsByChipAndLabel) {
  SampleRoot root;
  root.with("sys/class/hwmon/hwmon2/name", "ina226\n")
      .with("sys/class/hwmon/hwmon2/power1_input", "3250000\n")
      .with("sys/class/hwmon/hwmon2/power1_label", "VDD_CPU\n")
      .with("sys/class/hwmon/hwmon2/power1_max", "9\n")
      .with("sys/class/hwmon/hwmon2/energy1_input", "77\n");
  auto channels = TraceChannels::open(root.path());
  EXPECT_EQ(channels.channels().size(), 2U);
  EXPECT_EQ(reading(channels, "power:ina226/VDD_CPU"), 3'250'000);
  EXPECT_EQ(reading(channels, "energy:ina226/energy1"), 77);
}

TEST(TraceChannels, HavePowerAndFrequenciesBesideManyZones) {
  SampleRoot root;
  for (int zone = 0; zone < 80; ++zone) {
    const auto folder = fmt::format("sys/class/thermal/thermal_zone{}/", zone);
    root.with(folder + "type", fmt::format("zone{}\n", zone)).with(folder + "temp", "30000\n");
  }
  root.with("sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq", "1800000\n")
      .with("sys/class/power_supply/battery/type", "Battery\n")
      .with("sys/class/power_supply/battery/power_now", "4500000\n")
      .with("sys/class/hwmon/hwmon2/name", "ina226\n")
      .with("sys/class/hwmon/hwmon2/energy1_input", "77\n");
  auto channels = TraceChannels::open(root.path());
  EXPECT_EQ(channels.channels().size(), 64U);
  EXPECT_EQ(reading(channels, "power:battery"), 4'500'000);
  EXPECT_EQ(reading(channels, "frequency:policy0"), 1'800'000'000'000'000);
  EXPECT_EQ(reading(channels, "energy:ina226/energy1"), 77);
  EXPECT_EQ(reading(channels, "temperature:zone60"), 30'000'000);
  EXPECT_EQ(channels.unavailable().size(), 19U) << "zones";
}

TEST(TraceChannels, HaveTemperaturesBesideManyFrequencies) {
  SampleRoot root;
  for (int core = 0; core < 96; ++core) {
    root.with(fmt::format("sys/devices/system/cpu/cpufreq/policy{}/scaling_cur_freq", core), "1\n");
  }
  root.with("sys/class/thermal/thermal_zone0/type", "package\n")
      .with("sys/class/thermal/thermal_zone0/temp", "30000\n");
  auto channels = TraceChannels::open(root.path());
  EXPECT_EQ(channels.channels().size(), 64U);
  EXPECT_EQ(reading(channels, "temperature:package"), 30'000'000);
  EXPECT_TRUE(reading(channels, "frequency:policy62"));
}

TEST(TraceChannels, SayWhyOneCannotBeRead) {
  SampleRoot root;
  root.with("sys/class/powercap/intel-rapl:0/name", "package-0\n");
  const auto channels = TraceChannels::open(root.path());
  EXPECT_TRUE(channels.channels().empty());
  ASSERT_EQ(channels.unavailable().size(), 1U);
  EXPECT_EQ(channels.unavailable()[0].channel, "energy:package-0");
  EXPECT_THAT(channels.unavailable()[0].reason,
              HasSubstr("energy_uj cannot be read: No such file"));
}

}  // namespace
}  // namespace assay
