#include "assay/supervise/held_settings.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <string>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/device/cpu_frequency.h"
#include "assay/device/testing/sample_root.h"
#include "assay/record/frequency_target.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kClock = "sys/devices/system/cpu/cpu0/cpufreq/";

/// An agent's folder on a board with one clock.
class HeldSettingsTest : public testing::Test {
 public:
  HeldSettingsTest() {
    boot("one");
    for (const auto& [name, text] :
         {std::pair("cpuinfo_min_freq", "300000"), std::pair("cpuinfo_max_freq", "1800000"),
          std::pair("scaling_min_freq", "300000"), std::pair("scaling_max_freq", "1800000"),
          std::pair("scaling_governor", "schedutil"),
          std::pair("scaling_available_governors", "performance")}) {
      root_.with(std::string(kClock) + name, text);
    }
  }

  void boot(const std::string& id) { root_.with("proc/sys/kernel/random/boot_id", id + "\n"); }
  [[nodiscard]] ClockSetting now() const { return read_clock_settings(root_.path())->at(0); }
  [[nodiscard]] std::filesystem::path home() const { return root_.path() / "home"; }
  [[nodiscard]] std::filesystem::path file() const { return home() / "settings"; }

  /// Leaves settings behind as an agent does that is killed.
  void leave(const std::string& frequency) {
    std::string kept;
    {
      HeldSettings killed(home(), root_.path());
      ASSERT_TRUE(killed.apply({.frequency = frequency}));
      kept = read_file(file()).value();
    }
    root_.with("home/settings", kept);
    ASSERT_TRUE(write_clock_settings(
        settings_for_target(frequency_target_from_text(frequency).value(), {now()}, root_.path()),
        root_.path()));
  }

  SampleRoot root_;
};

TEST_F(HeldSettingsTest, HoldAFrequencyAsLongAsTheObject) {
  const auto before = now();
  {
    HeldSettings held(home(), root_.path());
    const auto reply = held.apply({.frequency = "max"});
    ASSERT_TRUE(reply.has_value()) << reply.error().message;
    EXPECT_THAT(reply->clocks, ElementsAre("cpu0: performance, 1.8 GHz"));
    EXPECT_EQ(now().governor, "performance");
    EXPECT_EQ(held.frequency_hz(), 1.8e9);
    ASSERT_TRUE(held.apply({.frequency = "min"}));
    EXPECT_EQ(now().max_khz, 300'000);
    EXPECT_EQ(now().governor, "schedutil") << "the second starts from what was there first";
    ASSERT_TRUE(held.apply({}));
    EXPECT_EQ(now(), before);
    EXPECT_FALSE(held.frequency_hz());
    ASSERT_TRUE(held.apply({.frequency = "900MHz"}));
    EXPECT_TRUE(std::filesystem::exists(file()));
  }
  EXPECT_EQ(now(), before);
  EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(HeldSettingsTest, AreTakenBackByTheNextAgentAfterAKill) {
  const auto before = now();
  leave("max");
  ASSERT_NE(now(), before);
  HeldSettings next(home(), root_.path());
  EXPECT_THAT(next.restore_left(), HasSubstr("cpu0: schedutil, 300 MHz to 1.8 GHz"));
  EXPECT_EQ(now(), before);
  EXPECT_EQ(next.restore_left(), "");
}

TEST_F(HeldSettingsTest, AreNotTakenBackAfterAReboot) {
  leave("min");
  const auto as_booted = now();
  boot("two");
  HeldSettings next(home(), root_.path());
  EXPECT_EQ(next.restore_left(), "");
  EXPECT_EQ(now(), as_booted);
  EXPECT_FALSE(std::filesystem::exists(file()));
}

/// Android keeps it on the disk.
TEST_F(HeldSettingsTest, LetAPhoneSleepAgainAfterAReboot) {
  const auto log = root_.path() / "log";
  root_.with("bin/settings", fmt::format("#!/bin/sh\necho \"$@\" >>{}\n", log.string()));
  std::filesystem::permissions(root_.path() / "bin/settings", std::filesystem::perms::owner_all);
  root_.with("home/settings", R"({"boot_id": "none", "awake": "3"})");
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", fmt::format("{}:{}", (root_.path() / "bin").string(), path).c_str(), 1);
  HeldSettings(home(), root_.path()).restore_left();
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(read_file(log).value_or(""), "put global stay_on_while_plugged_in 3\n");
  EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(HeldSettingsTest, TakeBackNoLimitOfHeatAsTheUsers) {
  root_.with("sys/class/thermal/cooling_device0/type", "cpufreq-cpu0\n");
  root_.with("sys/class/thermal/cooling_device0/cur_state", "3\n");
  root_.with(std::string(kClock) + "scaling_max_freq", "1200000");
  {
    HeldSettings held(home(), root_.path());
    ASSERT_TRUE(held.apply({.frequency = "min"}));
  }
  EXPECT_EQ(now().max_khz, 1'800'000);
}

TEST_F(HeldSettingsTest, KeepTheFormerOnesUntilTheyAreTakenBack) {
  const auto before = now();
  leave("min");
  const auto kept = read_file(file()).value();
  HeldSettings next(home(), root_.path());
  ASSERT_TRUE(next.apply({.frequency = "max"}));
  EXPECT_EQ(read_file(file()).value(), kept) << "the clocks of now are those that were left";
  ASSERT_TRUE(next.apply({}));
  EXPECT_EQ(now(), before);
}

TEST_F(HeldSettingsTest, SayWhatToDoWhereTheFrequencyCannotBeSet) {
  const auto before = now();
  const auto knob = root_.path() / kClock / "scaling_governor";
  std::filesystem::remove(knob);
  std::filesystem::create_symlink("/dev/null", knob);
  HeldSettings held(home(), root_.path());
  const auto refused = held.apply({.frequency = "min"});
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("\"frequency\": \"leave\""));

  const SampleRoot machine;
  HeldSettings nowhere(machine.path() / "home", machine.path());
  const auto missing = nowhere.apply({.frequency = "max"});
  EXPECT_EQ(missing.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(missing.error().message, HasSubstr("has no cpufreq"));
  EXPECT_TRUE(nowhere.apply({.frequency = "leave"}).has_value());
}

TEST_F(HeldSettingsTest, DoNotTrustADamagedFile) {
  root_.with("home/settings", R"({"boot_id": "one", "clocks": [{"folder": 3}]})");
  HeldSettings next(home(), root_.path());
  EXPECT_THAT(next.restore_left(), HasSubstr("are not known"));
  EXPECT_FALSE(std::filesystem::exists(file()));
}

}  // namespace
}  // namespace assay
