#include "assay/device/conditions.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "assay/base/clock.h"
#include "assay/device/text_fields.h"
#include "assay/record/launch.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

/// Files `folder/<prefix>*/name`, in no order.
std::vector<stdfs::path> files_in_each(const stdfs::path& folder, std::string_view prefix,
                                       const stdfs::path& name) {
  std::vector<stdfs::path> files;
  std::error_code ignored;
  for (stdfs::directory_iterator entry(folder, ignored), end; !ignored && entry != end;
       entry.increment(ignored)) {
    if (entry->path().filename().string().starts_with(prefix)) {
      files.push_back(entry->path() / name);
    }
  }
  return files;
}

std::optional<double> highest_number(const std::vector<stdfs::path>& files, double scale,
                                     double low, double high) {
  std::optional<double> highest;
  for (const auto& file : files) {
    const auto text = read_system_text(file);
    const auto number = text ? leading_double(*text) : std::nullopt;
    // Zones without a sensor tell values like -274000.
    if (number && *number * scale > low && *number * scale < high) {
      highest = std::max(highest.value_or(low), *number * scale);
    }
  }
  return highest;
}

/// The sum of what the files tell; nullopt when none tells anything.
std::optional<std::int64_t> sum_of_numbers(const std::vector<stdfs::path>& files) {
  std::optional<std::int64_t> sum;
  for (const auto& file : files) {
    const auto text = read_system_text(file);
    if (const auto number = text ? leading_integer(*text) : std::nullopt) {
      sum = sum.value_or(0) + *number;
    }
  }
  return sum;
}

/// "some avg10=0.12 avg60=…": the share of time in which something waited for the resource,
/// percent.
std::optional<double> pressure_avg10(const std::optional<std::string>& text) {
  constexpr std::string_view kMark = "some avg10=";
  const std::string_view line = text ? std::string_view(*text) : std::string_view{};
  const auto at = line.find(kMark);
  return at == std::string_view::npos ? std::nullopt
                                      : leading_double(line.substr(at + kMark.size()));
}

/// First line of /proc/stat: "cpu user nice system idle iowait irq softirq steal guest guest_nice";
/// guest time is part of user time (proc(5)).
void add_ticks(const std::optional<std::string>& text, Conditions& conditions) {
  constexpr int kSteal = 7;
  if (!text || !text->starts_with("cpu ")) {
    return;
  }
  std::string_view rest = std::string_view(*text).substr(4);
  rest = rest.substr(0, rest.find('\n'));
  std::int64_t total = 0;
  for (int field = 0; field <= kSteal; ++field) {
    rest = trimmed(rest);
    const auto ticks = leading_integer(rest);
    if (!ticks) {
      return;
    }
    total += *ticks;
    if (field == kSteal) {
      conditions.steal_ticks = ticks;
    }
    rest = rest.substr(std::min(rest.find(' '), rest.size()));
  }
  conditions.total_ticks = total;
}

std::optional<std::int64_t> available_bytes(const std::optional<std::string>& meminfo) {
  const auto kib = meminfo ? find_integer_field(*meminfo, "MemAvailable") : std::nullopt;
  return kib ? std::optional(*kib * 1024) : std::nullopt;
}

/// A number of a power supply's file, in its unit; they count in millionths.
std::optional<double> supply_number(const stdfs::path& supply, const char* name, double scale) {
  const auto text = read_system_text(supply / name);
  const auto number = text ? leading_double(*text) : std::nullopt;
  return number ? std::optional(*number * scale) : std::nullopt;
}

/// Source: Linux, Documentation/ABI/testing/sysfs-class-power. Drivers disagree about the sign of
/// current_now, so that the status decides.
void add_battery(const stdfs::path& supply, Conditions& conditions) {
  const auto status = read_system_text(supply / "status").value_or("");
  conditions.battery_percent = supply_number(supply, "capacity", 1);
  conditions.is_charging = status == "Charging" || status == "Full";
  const auto volts = supply_number(supply, "voltage_now", 1e-6);
  const auto amperes = supply_number(supply, "current_now", 1e-6);
  auto watts = supply_number(supply, "power_now", 1e-6);
  if (!watts && volts && amperes) {
    watts = *volts * *amperes;
  }
  if (watts) {
    conditions.battery_watts = *conditions.is_charging ? -std::abs(*watts) : std::abs(*watts);
  }
}

void add_batteries(const stdfs::path& root, Conditions& conditions) {
  for (const auto& type : files_in_each(root / "sys/class/power_supply", "", "type")) {
    // That of a mouse or a headset has the scope "Device".
    const bool is_own = read_system_text(type.parent_path() / "scope") != "Device";
    if (read_system_text(type) == "Battery" && is_own && !conditions.battery_percent) {
      add_battery(type.parent_path(), conditions);
    }
  }
}

}  // namespace

Conditions read_conditions(const stdfs::path& root) {
  const auto cpus = root / "sys/devices/system/cpu";
  Conditions conditions;
  conditions.unix_ns = unix_time_ns();
  conditions.boottime_ns = boottime_ns();
  if (const auto text = read_system_text(root / "proc/loadavg")) {
    conditions.load_average_1min = leading_double(*text);
  }
  conditions.cpu_pressure_avg10 = pressure_avg10(read_system_text(root / "proc/pressure/cpu"));
  conditions.memory_pressure_avg10 =
      pressure_avg10(read_system_text(root / "proc/pressure/memory"));
  conditions.io_pressure_avg10 = pressure_avg10(read_system_text(root / "proc/pressure/io"));
  add_ticks(read_system_text(root / "proc/stat"), conditions);
  conditions.frequency_hz =
      highest_number(files_in_each(cpus, "cpu", "cpufreq/scaling_cur_freq"), 1e3, 0, 1e11);
  conditions.temperature_celsius = highest_number(
      files_in_each(root / "sys/class/thermal", "thermal_zone", "temp"), 1e-3, -60, 200);
  conditions.throttle_count =
      sum_of_numbers(files_in_each(cpus, "cpu", "thermal_throttle/core_throttle_count"));
  conditions.governor = read_system_text(cpus / "cpu0/cpufreq/scaling_governor");
  add_batteries(root, conditions);
  conditions.memory_available_bytes = available_bytes(read_system_text(root / "proc/meminfo"));
  return conditions;
}

}  // namespace assay
