#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/frequency_target.h"

namespace assay {

/// The settings of cores that share a clock, as cpufreq has them.
struct ClockSetting {
  std::string folder;  ///< Below the root: "sys/devices/system/cpu/cpufreq/policy0".
  std::string governor;
  std::int64_t min_khz = 0;  ///< Least and greatest frequency that the governor may choose.
  std::int64_t max_khz = 0;

  bool operator==(const ClockSetting&) const = default;
};

/// The settings of all clocks of this machine, by their folders.
/// `root`: where /sys is found; tests give a folder of samples.
/// Errors: kUnsupported where it has no cpufreq, as virtual machines have none.
/// Source: Linux, Documentation/admin-guide/pm/cpufreq.rst, "Policy Interface in sysfs".
Result<std::vector<ClockSetting>> read_clock_settings(const std::filesystem::path& root = "/");

/// The settings with which each clock has the target's frequency, or the available one that is
/// nearest to it: both limits are that frequency, and for the greatest one the governor is
/// "performance" where there is such a governor. "mid" is the middle of what the hardware can.
std::vector<ClockSetting> settings_for_target(const FrequencyTarget& target,
                                              std::vector<ClockSetting> now,
                                              const std::filesystem::path& root = "/");

/// The settings without what the system's own protection from heat limits them to: the kernel shows
/// the lower of its limit and the user's. While a cooling device of the processor is at work, the
/// greatest frequency is that of the hardware.
std::vector<ClockSetting> without_heat_limit(std::vector<ClockSetting> settings,
                                             const std::filesystem::path& root = "/");

/// Means whether clocks may be slower than they are set to, because they are hot.
enum class HeatLimit : std::uint8_t { kRefused, kAccepted };

/// Sets the clocks and reads back whether they are so, within 3 %. Errors: kUnavailable where that
/// is not permitted, or the system did not take it; some may be set then.
Status write_clock_settings(const std::vector<ClockSetting>& settings,
                            const std::filesystem::path& root = "/",
                            HeatLimit heat = HeatLimit::kRefused);

}  // namespace assay
