#include "assay/device/conditions.h"

#include <gtest/gtest.h>
#include <optional>

#include "assay/device/testing/sample_root.h"

namespace assay {
namespace {

constexpr const char* kMeminfo =
    "MemTotal:       24689664 kB\nMemFree:        20000000 kB\nMemAvailable:   23000000 kB\n";

TEST(Conditions, AreAbsentWhereTheSystemTellsNothing) {
  const SampleRoot root;
  const auto conditions = read_conditions(root.path());
  EXPECT_GT(conditions.unix_ns, 0);
  EXPECT_FALSE(conditions.load_average_1min);
  EXPECT_FALSE(conditions.cpu_pressure_avg10);
  EXPECT_FALSE(conditions.steal_ticks);
  EXPECT_FALSE(conditions.total_ticks);
  EXPECT_FALSE(conditions.frequency_hz);
  EXPECT_FALSE(conditions.temperature_celsius);
  EXPECT_FALSE(conditions.throttle_count);
  EXPECT_FALSE(conditions.memory_pressure_avg10);
  EXPECT_FALSE(conditions.io_pressure_avg10);
  EXPECT_FALSE(conditions.governor);
  EXPECT_FALSE(conditions.battery_percent);
  EXPECT_FALSE(conditions.battery_watts);
  EXPECT_FALSE(conditions.memory_available_bytes);
}

TEST(Conditions, AreReadFromAVirtualMachine) {
  SampleRoot root;
  root.with("proc/loadavg", "0.53 0.24 0.22 2/91 6911\n")
      .with("proc/pressure/cpu",
            "some avg10=1.25 avg60=0.08 avg300=3.09 total=57051524\n"
            "full avg10=9.00 avg60=0.00 avg300=0.00 total=0\n")
      .with("proc/pressure/memory", "some avg10=0.50 avg60=0.00 avg300=0.00 total=1\n")
      .with("proc/pressure/io", "some avg10=7.75 avg60=0.00 avg300=0.00 total=1\n")
      .with("proc/stat",
            "cpu  102265 1 13891 556229 1944 2 135 69 40 5\n"
            "cpu0 46343 0 6051 284197 553 0 7 30 0 0\n")
      .with("proc/meminfo", kMeminfo);
  const auto conditions = read_conditions(root.path());
  EXPECT_EQ(conditions.load_average_1min, 0.53);
  EXPECT_EQ(conditions.cpu_pressure_avg10, 1.25);
  EXPECT_EQ(conditions.memory_pressure_avg10, 0.5);
  EXPECT_EQ(conditions.io_pressure_avg10, 7.75);
  EXPECT_EQ(conditions.steal_ticks, 69);
  EXPECT_EQ(conditions.total_ticks, 102265 + 1 + 13891 + 556229 + 1944 + 2 + 135 + 69);
  EXPECT_EQ(conditions.memory_available_bytes, 23000000LL * 1024);
}

TEST(Conditions, TellTheBatteryInOneSign) {
  SampleRoot root;
  root.with("sys/class/power_supply/a_mouse/type", "Battery\n")
      .with("sys/class/power_supply/a_mouse/scope", "Device\n")
      .with("sys/class/power_supply/a_mouse/capacity", "7\n")
      .with("sys/class/power_supply/usb/type", "USB\n")
      .with("sys/class/power_supply/usb/capacity", "1\n")
      .with("sys/class/power_supply/battery/type", "Battery\n")
      .with("sys/class/power_supply/battery/capacity", "85\n")
      .with("sys/class/power_supply/battery/status", "Discharging\n")
      .with("sys/class/power_supply/battery/voltage_now", "4000000\n")
      .with("sys/class/power_supply/battery/current_now", "-500000\n");
  auto conditions = read_conditions(root.path());
  EXPECT_EQ(conditions.battery_percent, 85);
  EXPECT_EQ(conditions.is_charging, false);
  EXPECT_DOUBLE_EQ(conditions.battery_watts.value_or(0), 2.0);
  root.with("sys/class/power_supply/battery/status", "Charging\n");
  conditions = read_conditions(root.path());
  EXPECT_EQ(conditions.is_charging, true);
  EXPECT_DOUBLE_EQ(conditions.battery_watts.value_or(0), -2.0);
}

TEST(Conditions, TakeTheHighestFrequencyAndTemperature) {
  SampleRoot root;
  root.with("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "800000\n")
      .with("sys/devices/system/cpu/cpu7/cpufreq/scaling_cur_freq", "2841600\n")
      .with("sys/devices/system/cpu/cpufreq/ondemand", "x")
      .with("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "schedutil\n")
      .with("sys/class/thermal/thermal_zone0/temp", "-274000\n")
      .with("sys/class/thermal/thermal_zone1/temp", "41500\n")
      .with("sys/class/thermal/thermal_zone12/temp", "38000\n")
      .with("sys/class/thermal/cooling_device0/temp", "99000\n");
  const auto conditions = read_conditions(root.path());
  EXPECT_EQ(conditions.frequency_hz, 2'841'600'000.0);
  EXPECT_EQ(conditions.temperature_celsius, 41.5);
  EXPECT_EQ(conditions.governor, "schedutil");
}

TEST(Conditions, SumTheThrottleCountersOfAllCores) {
  SampleRoot root;
  root.with("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "3\n")
      .with("sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "0\n")
      .with("sys/devices/system/cpu/cpu11/thermal_throttle/core_throttle_count", "4\n");
  EXPECT_EQ(read_conditions(root.path()).throttle_count, 7);
}

TEST(Conditions, AreAbsentWhereFilesHoldNonsense) {
  SampleRoot root;
  root.with("proc/loadavg", "a b c")
      .with("proc/pressure/cpu", "some avg10=")
      .with("proc/stat", "cpu  1 2 3\ncpu0 1 2 3 4 5 6 7 8\n")
      .with("proc/meminfo", "MemAvailable: many kB\n")
      .with("sys/class/thermal/thermal_zone0/temp", "hot");
  const auto conditions = read_conditions(root.path());
  EXPECT_FALSE(conditions.load_average_1min);
  EXPECT_FALSE(conditions.cpu_pressure_avg10);
  EXPECT_FALSE(conditions.steal_ticks);
  EXPECT_FALSE(conditions.total_ticks);
  EXPECT_FALSE(conditions.temperature_celsius);
  EXPECT_FALSE(conditions.memory_available_bytes);
}

TEST(Conditions, OfThisMachineAreSane) {
  const auto conditions = read_conditions();
  ASSERT_TRUE(conditions.total_ticks);
  EXPECT_GT(*conditions.total_ticks, 0);
  ASSERT_TRUE(conditions.memory_available_bytes);
  EXPECT_GT(*conditions.memory_available_bytes, 1 << 20);
}

}  // namespace
}  // namespace assay
