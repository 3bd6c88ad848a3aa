#include "assay/device/trace_channels.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "assay/base/file_descriptor.h"
#include "assay/base/folders.h"
#include "assay/device/text_fields.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

constexpr std::size_t kMostChannels = 64;
/// First letters of the names of channels.
constexpr char kFrequency = 'f';
constexpr char kTemperature = 't';
constexpr char kOther = 'p';
constexpr std::int64_t kMicro = 1'000'000;

/// Entries of a folder whose names begin so, in the order of their names' numbers.
std::vector<stdfs::path> numbered_entries(const stdfs::path& folder, std::string_view prefix) {
  auto entries = entries_with(folder, prefix);
  std::ranges::sort(entries, [](const stdfs::path& a, const stdfs::path& b) {
    const auto [left, right] = std::pair(a.string(), b.string());
    return std::pair(left.size(), left) < std::pair(right.size(), right);
  });
  return entries;
}

/// Files are read from their start again and again, as sysfs allows. A reading takes no memory.
std::optional<std::string_view> reread(const FileDescriptor& file, std::array<char, 64>& buffer) {
  const auto count = ::pread(file.get(), buffer.data(), buffer.size(), 0);
  return count <= 0 ? std::nullopt
                    : std::optional(trimmed({buffer.data(), static_cast<std::size_t>(count)}));
}

std::optional<double> number_in(const FileDescriptor& file) {
  std::array<char, 64> buffer{};
  const auto text = reread(file, buffer);
  const auto number = text ? leading_integer(*text) : std::nullopt;
  return number ? std::optional(static_cast<double>(*number)) : std::nullopt;
}

/// Drivers disagree about the sign of current_now, so that the status decides: what charges a
/// battery is negative.
std::int64_t signed_by(const FileDescriptor& status, std::int64_t micros) {
  std::array<char, 64> buffer{};
  const auto text = reread(status, buffer);
  const bool is_charging = text && (*text == "Charging" || *text == "Full");
  return is_charging ? -std::abs(micros) : std::abs(micros);
}

bool is_there(const stdfs::path& file) {
  std::error_code ignored;
  return stdfs::exists(file, ignored);
}

/// "ina226" of hwmon, "package-0" of RAPL: the name that a driver gives.
std::string name_in(const stdfs::path& folder, const char* file = "name") {
  return read_system_text(folder / file).value_or(folder.filename().string());
}

/// A power in watts that a battery or a rail can have.
TraceChannel power_channel(std::string name, double scale) {
  constexpr std::int64_t kMost = 100'000 * kMicro;
  return {.name = std::move(name), .unit = "watts", .scale = scale, .least = -kMost, .most = kMost};
}

/// A counter of microjoules, which is what all of them count.
TraceChannel energy_channel(std::string name, std::int64_t wrap) {
  return {.name = std::move(name),
          .unit = "joules",
          .least = 0,
          .most = std::int64_t{1} << 62,
          .wrap = wrap};
}

}  // namespace

TraceChannels TraceChannels::open(const stdfs::path& root) {
  TraceChannels found;
  found.add_thermal_zones(root);
  found.add_frequencies(root);
  found.add_batteries(root);
  found.add_rapl(root);
  found.add_hwmon(root);
  found.open_found();
  return found;
}

std::string TraceChannels::unused_name(const std::string& name) const {
  const auto is_used = [this](const std::string& wanted) {
    return std::ranges::any_of(channels_, [&](const auto& one) { return one.name == wanted; }) ||
           std::ranges::any_of(unavailable_,
                               [&](const auto& one) { return one.channel == wanted; });
  };
  auto unused = name;
  for (int count = 2; is_used(unused); ++count) {
    unused = fmt::format("{}#{}", name, count);
  }
  return unused;
}

void TraceChannels::add(TraceChannel channel, const std::vector<stdfs::path>& files) {
  found_.push_back({.channel = std::move(channel), .files = files});
}

/// Orders channels by the first letter of their names: frequencies, temperatures, all others.
std::map<char, std::size_t> TraceChannels::shares() const {
  std::map<char, std::size_t> found;
  for (const auto& one : found_) {
    const char kind = one.channel.name.front();
    ++found[kind == kFrequency || kind == kTemperature ? kind : kOther];
  }
  const auto others = std::min(found[kOther], kMostChannels);
  const auto left = kMostChannels - others;
  const auto half = left / 2;
  const auto spare = half - std::min(half, found[kFrequency]);
  const auto temperatures = std::min(found[kTemperature], left - half + spare);
  return {{kOther, others},
          {kTemperature, temperatures},
          {kFrequency, std::min(found[kFrequency], left - temperatures)}};
}

void TraceChannels::open_found() {
  auto left = shares();
  for (auto& one : std::exchange(found_, {})) {
    one.channel.name = unused_name(one.channel.name);
    const char kind = one.channel.name.front();
    auto& room = left[kind == kFrequency || kind == kTemperature ? kind : kOther];
    if (room == 0) {
      unavailable_.push_back(
          {std::move(one.channel.name), fmt::format("only {} channels are read", kMostChannels)});
      continue;
    }
    --room;
    open_files(std::move(one));
  }
}

void TraceChannels::open_files(Found found) {
  auto& channel = found.channel;
  for (std::size_t i = 0; i < found.files.size(); ++i) {
    const auto& file = found.files[i];
    channel.files[i] = FileDescriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!channel.files[i].is_open()) {
      const auto reason = std::generic_category().message(errno);
      unavailable_.push_back(
          {std::move(channel.name), fmt::format("{} cannot be read: {}", file.string(), reason)});
      return;
    }
  }
  channels_.push_back(std::move(channel));
}

void TraceChannels::add_thermal_zones(const stdfs::path& root) {
  for (const auto& zone : numbered_entries(root / "sys/class/thermal", "thermal_zone")) {
    // Thousandths of a degree.
    add({.name = "temperature:" + name_in(zone, "type"),
         .unit = "celsius",
         .scale = 1e3,
         .least = -60 * kMicro,
         .most = 200 * kMicro},
        {zone / "temp"});
  }
}

/// A policy is the cores that share a frequency; if there are none, each core has its own.
void TraceChannels::add_frequencies(const stdfs::path& root) {
  const auto cpus = root / "sys/devices/system/cpu";
  const auto add_each = [&](const std::vector<stdfs::path>& folders, const char* file) {
    bool has_any = false;
    for (const auto& folder : folders) {
      if (is_there(folder / file)) {
        has_any = true;
        add({.name = "frequency:" + folder.filename().string(),
             .unit = "hz",
             .scale = 1e9,  // From kHz.
             .least = 0,
             .most = 100'000'000'000 * kMicro},
            {folder / file});
      }
    }
    return has_any;
  };
  if (!add_each(numbered_entries(cpus / "cpufreq", "policy"), "scaling_cur_freq")) {
    add_each(numbered_entries(cpus, "cpu"), "cpufreq/scaling_cur_freq");
  }
}

/// Source: Linux, Documentation/ABI/testing/sysfs-class-power; microvolts, microamperes,
/// microwatts.
void TraceChannels::add_batteries(const stdfs::path& root) {
  for (const auto& supply : numbered_entries(root / "sys/class/power_supply", "")) {
    // That of a mouse or a headset has the scope "Device".
    if (read_system_text(supply / "type") != "Battery" ||
        read_system_text(supply / "scope") == "Device") {
      continue;
    }
    const bool has_power = is_there(supply / "power_now");
    auto channel = power_channel("power:" + supply.filename().string(), has_power ? 1 : 1e-6);
    channel.status = FileDescriptor(::open((supply / "status").c_str(), O_RDONLY | O_CLOEXEC));
    if (has_power) {
      add(std::move(channel), {supply / "power_now"});
    } else if (is_there(supply / "current_now")) {
      add(std::move(channel), {supply / "current_now", supply / "voltage_now"});
    }
  }
}

/// Source: Linux, Documentation/power/powercap/powercap.rst. A zone below another one counts a part
/// of it.
void TraceChannels::add_rapl(const stdfs::path& root) {
  const auto folder = root / "sys/class/powercap";
  for (const auto& zone : numbered_entries(folder, "intel-rapl:")) {
    auto name = name_in(zone);
    const auto file = zone.filename().string();
    if (const auto part = file.find(':', file.find(':') + 1); part != std::string::npos) {
      name = fmt::format("{}/{}", name_in(folder / file.substr(0, part)), name);
    }
    const auto wrap = read_system_text(zone / "max_energy_range_uj");
    add(energy_channel("energy:" + name, wrap ? leading_integer(*wrap).value_or(0) : 0),
        {zone / "energy_uj"});
  }
}

/// Source: Linux, Documentation/hwmon/sysfs-interface.rst; microwatts and microjoules.
void TraceChannels::add_hwmon(const stdfs::path& root) {
  constexpr std::string_view kInput = "_input";
  for (const auto& chip : numbered_entries(root / "sys/class/hwmon", "hwmon")) {
    for (const char* kind : {"power", "energy"}) {
      for (const auto& file : numbered_entries(chip, kind)) {
        auto input = file.filename().string();
        if (!input.ends_with(kInput)) {
          continue;
        }
        input.resize(input.size() - kInput.size());
        const auto label = read_system_text(chip / (input + "_label")).value_or(input);
        const auto name = fmt::format("{}:{}/{}", kind, name_in(chip), label);
        add(std::string_view(kind) == "power" ? power_channel(name, 1) : energy_channel(name, 0),
            {file});
      }
    }
  }
}

std::optional<std::int64_t> TraceChannels::read(std::size_t index) {
  auto& channel = channels_[index];
  double product = channel.scale;
  for (const auto& file : channel.files) {
    if (file.is_open()) {
      const auto number = number_in(file);
      if (!number) {
        return std::nullopt;
      }
      product *= *number;
    }
  }
  if (product < static_cast<double>(channel.least) || product > static_cast<double>(channel.most)) {
    return std::nullopt;
  }
  auto micros = static_cast<std::int64_t>(std::llround(product));
  if (channel.wrap > 0) {
    channel.wrapped += micros < channel.last ? channel.wrap : 0;
    channel.last = micros;
    micros += channel.wrapped;
  }
  return channel.status.is_open() ? signed_by(channel.status, micros) : micros;
}

}  // namespace assay
