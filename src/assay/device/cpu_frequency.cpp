#include "assay/device/cpu_frequency.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "assay/base/file_descriptor.h"
#include "assay/base/limits.h"
#include "assay/base/result.h"
#include "assay/device/text_fields.h"
#include "assay/record/frequency_target.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

constexpr const char* kGovernor = "scaling_governor";
constexpr const char* kLeast = "scaling_min_freq";
constexpr const char* kGreatest = "scaling_max_freq";

std::optional<std::int64_t> khz_in(const stdfs::path& file) {
  const auto text = read_system_text(file);
  return text ? leading_integer(*text) : std::nullopt;
}

/// Folders of the clocks. A core's "cpufreq" is a link to that of its clock.
std::set<stdfs::path> clock_folders(const stdfs::path& root) {
  std::set<stdfs::path> folders;
  std::error_code ignored;
  const auto cpus = root / "sys/devices/system/cpu";
  for (stdfs::directory_iterator entry(cpus, ignored), end; !ignored && entry != end;
       entry.increment(ignored)) {
    std::error_code error;
    auto folder = stdfs::canonical(entry->path() / "cpufreq", error);
    if (!error && stdfs::exists(folder / kGovernor, error)) {
      folders.insert(std::move(folder));
    }
  }
  return folders;
}

std::optional<ClockSetting> read_setting(const stdfs::path& root, const std::string& folder) {
  const auto governor = read_system_text(root / folder / kGovernor);
  const auto least = khz_in(root / folder / kLeast);
  const auto greatest = khz_in(root / folder / kGreatest);
  if (!governor || !least || !greatest) {
    return std::nullopt;
  }
  return ClockSetting{
      .folder = folder, .governor = *governor, .min_khz = *least, .max_khz = *greatest};
}

std::vector<std::string> words_in(const stdfs::path& file) {
  std::istringstream text(read_system_text(file).value_or(""));
  std::vector<std::string> words;
  for (std::string word; text >> word;) {
    words.push_back(word);
  }
  return words;
}

std::vector<std::int64_t> available_khz(const stdfs::path& folder) {
  std::vector<std::int64_t> available;
  for (const auto& word : words_in(folder / "scaling_available_frequencies")) {
    if (const auto khz = leading_integer(word)) {
      available.push_back(*khz);
    }
  }
  return available;
}

/// The frequency for a clock between the limits of the hardware.
std::int64_t khz_for(const FrequencyTarget& target, const stdfs::path& folder,
                     const ClockSetting& now) {
  const auto least = khz_in(folder / "cpuinfo_min_freq").value_or(now.min_khz);
  const auto greatest = khz_in(folder / "cpuinfo_max_freq").value_or(now.max_khz);
  auto wanted = target.khz;
  wanted = target.kind == FrequencyTarget::Kind::kMax ? greatest : wanted;
  wanted = target.kind == FrequencyTarget::Kind::kMin ? least : wanted;
  wanted = target.kind == FrequencyTarget::Kind::kMid ? least + (greatest - least) / 2 : wanted;
  const auto available = available_khz(folder);
  if (available.empty()) {
    return std::clamp(wanted, least, std::max(least, greatest));
  }
  return *std::ranges::min_element(available, {},
                                   [wanted](std::int64_t khz) { return std::abs(khz - wanted); });
}

Status write_text(const stdfs::path& file, std::string_view text) {
  const FileDescriptor target(::open(file.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  const auto bytes = static_cast<ssize_t>(text.size());
  if (target.is_open() && ::write(target.get(), text.data(), text.size()) == bytes) {
    return {};
  }
  return fail(ErrorCode::kUnavailable,
              fmt::format("cannot write '{}': {}", file.string(), text_from_errno(errno)));
}

/// The limits never cross: the kernel refuses a least frequency above the greatest.
Status write_limits(const stdfs::path& folder, const ClockSetting& setting) {
  std::vector<std::pair<const char*, std::int64_t>> limits = {{kGreatest, setting.max_khz},
                                                              {kLeast, setting.min_khz}};
  if (setting.max_khz < khz_in(folder / kLeast).value_or(0)) {
    std::ranges::reverse(limits);
  }
  for (const auto& [name, khz] : limits) {
    ASSAY_RETURN_IF_ERROR(write_text(folder / name, std::to_string(khz)));
  }
  return {};
}

/// True if a cooling device of the processor is at work. Source: Linux,
/// Documentation/driver-api/thermal/sysfs-api.rst.
bool is_cooled(const stdfs::path& root) {
  std::error_code ignored;
  for (stdfs::directory_iterator entry(root / "sys/class/thermal", ignored), end;
       !ignored && entry != end; entry.increment(ignored)) {
    const auto type = read_system_text(entry->path() / "type").value_or("");
    const bool is_processor =
        type.find("cpufreq") != std::string::npos || type.starts_with("Processor");
    if (is_processor && khz_in(entry->path() / "cur_state").value_or(0) > 0) {
      return true;
    }
  }
  return false;
}

/// Drivers round to what they can.
bool is_as_wanted(const ClockSetting& got, const ClockSetting& wanted) {
  constexpr double kRoundingRatio = 0.03;
  const auto is_near = [](std::int64_t a, std::int64_t b) {
    return static_cast<double>(std::abs(a - b)) <= kRoundingRatio * static_cast<double>(b);
  };
  return got.governor == wanted.governor && is_near(got.min_khz, wanted.min_khz) &&
         is_near(got.max_khz, wanted.max_khz);
}

/// The wanted frequency, limited by the greatest one.
bool is_limited(const ClockSetting& got, const ClockSetting& wanted) {
  return got.governor == wanted.governor && got.max_khz < wanted.max_khz &&
         got.min_khz <= wanted.min_khz;
}

Status write_setting(const stdfs::path& root, const ClockSetting& setting, HeatLimit heat) {
  const auto folder = root / setting.folder;
  const auto now = read_setting(root, setting.folder);
  if (now == setting) {
    return {};
  }
  if (!now || now->governor != setting.governor) {
    ASSAY_RETURN_IF_ERROR(write_text(folder / kGovernor, setting.governor));
  }
  ASSAY_RETURN_IF_ERROR(write_limits(folder, setting));
  const auto got = read_setting(root, setting.folder);
  const bool may_be_limited = heat == HeatLimit::kAccepted && is_cooled(root);
  if (got && (is_as_wanted(*got, setting) || (may_be_limited && is_limited(*got, setting)))) {
    return {};
  }
  return fail(
      ErrorCode::kUnavailable,
      fmt::format("'{}' did not become {}, {} to {}: it is {}, {} to {}", folder.string(),
                  setting.governor, text_from_khz(setting.min_khz), text_from_khz(setting.max_khz),
                  got ? got->governor : "?", text_from_khz(got ? got->min_khz : 0),
                  text_from_khz(got ? got->max_khz : 0)));
}

}  // namespace

Result<std::vector<ClockSetting>> read_clock_settings(const stdfs::path& root) {
  std::vector<ClockSetting> settings;
  std::error_code ignored;
  const auto base = stdfs::canonical(root, ignored);
  for (const auto& folder : clock_folders(base)) {
    if (auto setting = read_setting(base, folder.lexically_relative(base).string())) {
      settings.push_back(*std::move(setting));
    }
  }
  if (settings.empty()) {
    return fail(ErrorCode::kUnsupported, "the system has no cpufreq");
  }
  return settings;
}

std::vector<ClockSetting> settings_for_target(const FrequencyTarget& target,
                                              std::vector<ClockSetting> now,
                                              const stdfs::path& root) {
  constexpr const char* kFastest = "performance";
  for (auto& setting : now) {
    const auto folder = root / setting.folder;
    const auto governors = words_in(folder / "scaling_available_governors");
    const bool has_fastest = std::ranges::find(governors, kFastest) != governors.end();
    if (target.kind == FrequencyTarget::Kind::kMax && has_fastest) {
      setting.governor = kFastest;
    }
    setting.max_khz = khz_for(target, folder, setting);
    setting.min_khz = setting.max_khz;
  }
  return now;
}

std::vector<ClockSetting> without_heat_limit(std::vector<ClockSetting> settings,
                                             const stdfs::path& root) {
  if (is_cooled(root)) {
    for (auto& setting : settings) {
      const auto greatest = khz_in(root / setting.folder / "cpuinfo_max_freq");
      setting.max_khz = std::max(setting.max_khz, greatest.value_or(0));
    }
  }
  return settings;
}

Status write_clock_settings(const std::vector<ClockSetting>& settings, const stdfs::path& root,
                            HeatLimit heat) {
  Status status;
  for (const auto& setting : settings) {
    if (auto written = write_setting(root, setting, heat); !written && status) {
      status = std::move(written);
    }
  }
  return status;
}

}  // namespace assay
