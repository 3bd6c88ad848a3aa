#include "assay/device/cpu_frequency.h"

#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include <unistd.h>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/device/testing/sample_root.h"
#include "assay/record/frequency_target.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kClock = "sys/devices/system/cpu/cpufreq/policy0";

/// A board whose two cores share a clock, as Linux shows it.
class CpuFrequencyTest : public testing::Test {
 public:
  CpuFrequencyTest() {
    with("cpuinfo_min_freq", "300000");
    with("cpuinfo_max_freq", "1800000");
    with("scaling_min_freq", "300000");
    with("scaling_max_freq", "1500000");
    with("scaling_governor", "schedutil");
    for (const auto* core : {"cpu0", "cpu1"}) {
      const auto folder = root_.path() / "sys/devices/system/cpu" / core;
      std::filesystem::create_directories(folder);
      std::filesystem::create_directory_symlink("../cpufreq/policy0", folder / "cpufreq");
    }
  }

  void with(const std::string& name, const std::string& text) {
    root_.with(fmt::format("{}/{}", kClock, name), text + "\n");
  }

  [[nodiscard]] ClockSetting setting_for(const std::string& target) const {
    const auto now = read_clock_settings(root_.path()).value();
    return settings_for_target(frequency_target_from_text(target).value(), now, root_.path()).at(0);
  }

  [[nodiscard]] ClockSetting now() const { return read_clock_settings(root_.path())->at(0); }

  SampleRoot root_;
};

TEST_F(CpuFrequencyTest, ReadsAClockOnceForAllItsCores) {
  EXPECT_THAT(
      read_clock_settings(root_.path()).value(),
      ElementsAre(ClockSetting{
          .folder = kClock, .governor = "schedutil", .min_khz = 300'000, .max_khz = 1'500'000}));
}

TEST_F(CpuFrequencyTest, TellsAMachineWithoutClocks) {
  EXPECT_EQ(read_clock_settings(SampleRoot().path()).error().code, ErrorCode::kUnsupported);
}

TEST_F(CpuFrequencyTest, FindsTheFrequencyWithinTheHardware) {
  EXPECT_EQ(setting_for("max").max_khz, 1'800'000) << "not the limit that somebody has set";
  EXPECT_EQ(setting_for("max").governor, "schedutil") << "there is no better one";
  EXPECT_EQ(setting_for("min").max_khz, 300'000);
  EXPECT_EQ(setting_for("mid").min_khz, 1'050'000);
  EXPECT_EQ(setting_for("1.2GHz").min_khz, 1'200'000);
  EXPECT_EQ(setting_for("9GHz").min_khz, 1'800'000);
  with("scaling_available_frequencies", "300000 900000 1300000 1800000 ");
  with("scaling_available_governors", "performance schedutil");
  EXPECT_EQ(setting_for("mid").min_khz, 900'000);
  EXPECT_EQ(setting_for("1.2GHz").min_khz, 1'300'000);
  EXPECT_EQ(setting_for("1.2GHz").governor, "schedutil");
  EXPECT_EQ(setting_for("max").governor, "performance");
}

TEST_F(CpuFrequencyTest, SetsAndRestores) {
  const auto before = now();
  const auto fastest = setting_for("max");
  ASSERT_TRUE(write_clock_settings({fastest}, root_.path()).has_value());
  EXPECT_EQ(now(), fastest);
  ASSERT_TRUE(write_clock_settings({setting_for("min")}, root_.path()).has_value());
  EXPECT_EQ(now().max_khz, 300'000);
  ASSERT_TRUE(write_clock_settings({before}, root_.path()).has_value());
  EXPECT_EQ(now(), before);
}

TEST_F(CpuFrequencyTest, KnowsTheLimitOfHeatFromThatOfTheUser) {
  EXPECT_EQ(without_heat_limit({now()}, root_.path()).at(0).max_khz, 1'500'000);
  root_.with("sys/class/thermal/cooling_device0/type", "Fan\n")
      .with("sys/class/thermal/cooling_device0/cur_state", "2\n")
      .with("sys/class/thermal/cooling_device1/type", "cpufreq-cpu0\n")
      .with("sys/class/thermal/cooling_device1/cur_state", "0\n");
  EXPECT_EQ(without_heat_limit({now()}, root_.path()).at(0).max_khz, 1'500'000);
  root_.with("sys/class/thermal/cooling_device1/cur_state", "1\n");
  EXPECT_EQ(without_heat_limit({now()}, root_.path()).at(0).max_khz, 1'800'000);
}

TEST_F(CpuFrequencyTest, TellsWhatCannotBeWritten) {
  auto setting = setting_for("max");
  const auto file = root_.path() / kClock / "scaling_max_freq";
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);  // Root may write anything but this.
  const auto written = write_clock_settings({setting}, root_.path());
  ASSERT_FALSE(written.has_value());
  EXPECT_THAT(written.error().message, HasSubstr("scaling_max_freq"));
}

TEST_F(CpuFrequencyTest, TellsWhatTheSystemDidNotTake) {
  // A device that takes every text and keeps its own.
  const auto file = root_.path() / kClock / "scaling_governor";
  std::filesystem::remove(file);
  std::filesystem::create_symlink("/dev/null", file);
  const auto written = write_clock_settings(
      {{.folder = kClock, .governor = "performance", .min_khz = 300'000, .max_khz = 300'000}},
      root_.path());
  ASSERT_FALSE(written.has_value());
  EXPECT_THAT(written.error().message, HasSubstr("did not become performance"));
}

}  // namespace
}  // namespace assay
