#include "assay/supervise/held_settings.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/log.h"
#include "assay/base/result.h"
#include "assay/device/cpu_frequency.h"
#include "assay/device/text_fields.h"
#include "assay/record/frequency_target.h"
#include "assay/supervise/held_device.h"
#include "assay/supervise/keep_awake.h"
#include "assay/wire/agent_messages.h"

namespace assay {
namespace {

constexpr const char* kBoot = "boot_id";
constexpr const char* kClocks = "clocks";
constexpr const char* kAwake = "awake";

Json json_from_clocks(const std::vector<ClockSetting>& clocks) {
  Json list = Json::array();
  for (const auto& clock : clocks) {
    list.push_back({{"folder", clock.folder},
                    {"governor", clock.governor},
                    {"min_khz", clock.min_khz},
                    {"max_khz", clock.max_khz}});
  }
  return list;
}

/// Throws Json::exception for another document.
std::vector<ClockSetting> clocks_from_json(const Json& list) {
  std::vector<ClockSetting> clocks;
  for (const auto& clock : list) {
    clocks.push_back({.folder = clock.at("folder").get<std::string>(),
                      .governor = clock.at("governor").get<std::string>(),
                      .min_khz = clock.at("min_khz").get<std::int64_t>(),
                      .max_khz = clock.at("max_khz").get<std::int64_t>()});
  }
  return clocks;
}

/// "policy4: performance, 1.8 GHz".
std::string text_of_clock(const ClockSetting& clock) {
  const std::filesystem::path folder(clock.folder);
  const auto name = folder.filename() == "cpufreq" ? folder.parent_path() : folder;
  return fmt::format(
      "{}: {}, {}", name.filename().string(), clock.governor,
      clock.min_khz == clock.max_khz
          ? text_from_khz(clock.max_khz)
          : fmt::format("{} to {}", text_from_khz(clock.min_khz), text_from_khz(clock.max_khz)));
}

std::vector<std::string> texts_of_clocks(const std::vector<ClockSetting>& clocks) {
  std::vector<std::string> texts;
  std::ranges::transform(clocks, std::back_inserter(texts), text_of_clock);
  return texts;
}

Error no_frequency(const Error& error) {
  return {.code = error.code,
          .message = fmt::format("its frequency cannot be set: {}; let Assay's agent be root there "
                                 "(adb root, ssh:root@HOST), or write \"frequency\": \"leave\" in "
                                 "the device's policy",
                                 error.message)};
}

}  // namespace

HeldSettings::~HeldSettings() {
  try {
    if (const auto restored = restore_own(); !restored) {
      log_line(LogLevel::kWarning, "assay-agent: " + restored.error().message);
    }
  } catch (const std::exception&) {
    return;  // The file stays, and the next agent takes them back.
  }
}

std::string HeldSettings::boot_id() const {
  return read_system_text(root_ / "proc/sys/kernel/random/boot_id").value_or("");
}

/// A value that could not be taken back before stays the former one: that of now is ours.
Status HeldSettings::remember(const char* key, Json value) {
  auto former = former_;
  if (former.empty()) {
    const auto left = read_json_file(file());
    if (left && left->is_object() && left->value(kBoot, "") == boot_id()) {
      former = *left;
    }
  }
  former[kBoot] = boot_id();
  former.emplace(key, std::move(value));
  ASSAY_RETURN_IF_ERROR(write_file_atomically(file(), former.dump() + "\n"));
  former_ = std::move(former);
  return {};
}

Status HeldSettings::restore(const Json& former) {
  Status status;
  if (former.value(kBoot, "") == boot_id()) {
    status = write_clock_settings(clocks_from_json(former.value(kClocks, Json::array())), root_,
                                  HeatLimit::kAccepted);
  }
  KeptAwake::restore(former.value(kAwake, ""));  // Kept on a phone's disk.
  if (status) {
    std::error_code ignored;
    std::filesystem::remove(file(), ignored);
  }
  return status;
}

Status HeldSettings::restore_own() {
  awake_.reset();
  frequency_hz_.reset();
  const auto former = std::exchange(former_, Json::object());
  return former.empty() ? Status() : restore(former);
}

std::string HeldSettings::restore_left() {
  if (!former_.empty()) {
    return {};
  }
  const auto left = read_json_file(file());
  if (!left) {
    return {};
  }
  try {
    const bool is_of_this_boot = left->value(kBoot, "") == boot_id();
    const auto clocks = clocks_from_json(left->value(kClocks, Json::array()));
    if (const auto restored = restore(*left); !restored) {
      return fmt::format("an agent was killed, and its settings stay: {}",
                         restored.error().message);
    }
    return is_of_this_boot
               ? fmt::format("settings that a killed agent left are as before{}{}",
                             clocks.empty() ? "" : ": ", fmt::join(texts_of_clocks(clocks), "; "))
               : "";
  } catch (const Json::exception& error) {
    std::error_code ignored;
    std::filesystem::remove(file(), ignored);
    return fmt::format("the settings that a killed agent left are not known: {}", error.what());
  }
}

Result<std::vector<std::string>> HeldSettings::set_frequency(const std::string& target) {
  ASSAY_ASSIGN_OR_RETURN(const auto wanted, frequency_target_from_text(target));
  if (wanted.kind == FrequencyTarget::Kind::kLeave) {
    return std::vector<std::string>();
  }
  const auto now = read_clock_settings(root_);
  if (!now) {
    return std::unexpected(no_frequency(now.error()));
  }
  ASSAY_RETURN_IF_ERROR(remember(kClocks, json_from_clocks(without_heat_limit(*now, root_))));
  if (const auto set = write_clock_settings(settings_for_target(wanted, *now, root_), root_);
      !set) {
    [[maybe_unused]] const auto restored = restore_own();
    return std::unexpected(no_frequency(set.error()));
  }
  ASSAY_ASSIGN_OR_RETURN(const auto clocks, read_clock_settings(root_));
  constexpr double kHzPerKhz = 1e3;
  for (const auto& clock : clocks) {
    frequency_hz_ =
        std::max(frequency_hz_.value_or(0), kHzPerKhz * static_cast<double>(clock.max_khz));
  }
  return texts_of_clocks(clocks);
}

Result<wire::PolicyReply> HeldSettings::apply(const wire::Policy& policy) {
  ASSAY_RETURN_IF_ERROR(restore_own());
  wire::PolicyReply reply;
  ASSAY_ASSIGN_OR_RETURN(reply.clocks, set_frequency(policy.frequency));
  if (policy.keep_awake) {
    if (const auto setting = KeptAwake::setting(); !setting.empty()) {
      ASSAY_RETURN_IF_ERROR(remember(kAwake, setting));
    }
    awake_ = KeptAwake::start();
    reply.awake = awake_ ? awake_->by() : "";
  }
  return reply;
}

std::string restore_settings_left_in(const std::filesystem::path& home) {
  std::error_code ignored;
  if (!std::filesystem::exists(home / "settings", ignored)) {
    return {};
  }
  const auto device = HeldDevice::take(home, "an agent that takes back settings");
  const bool is_ours = device && std::holds_alternative<HeldDevice>(*device);
  return is_ours ? HeldSettings(home).restore_left() : std::string();
}

}  // namespace assay
