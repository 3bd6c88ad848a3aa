#include "assay/device/core_types.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/device/cpu_name.h"
#include "assay/device/text_fields.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

using TypesByCore = std::map<int, std::string>;

/// Types of the cores that are on line.
TypesByCore types_in_cpuinfo(std::string_view cpuinfo) {
  constexpr std::string_view kBlock = "processor\t";
  TypesByCore types;
  for (std::size_t at = cpuinfo.find(kBlock); at != std::string_view::npos;) {
    const auto next = cpuinfo.find(kBlock, at + 1);
    const auto block = cpuinfo.substr(at, next == std::string_view::npos ? next : next - at);
    const auto core = find_integer_field(block, "processor");
    const auto part = cpu_part_from_cpuinfo(block);
    if (core && !part.empty()) {
      types[static_cast<int>(*core)] = part;
    }
    at = next;
  }
  return types;
}

/// Cores that the system has, on line or not.
std::set<int> configured_cores(const stdfs::path& cpus) {
  std::set<int> cores;
  std::error_code ignored;
  for (stdfs::directory_iterator entry(cpus, ignored), end; !ignored && entry != end;
       entry.increment(ignored)) {
    const auto name = entry->path().filename().string();
    const auto core = name.starts_with("cpu") ? leading_integer(name.substr(3)) : std::nullopt;
    if (core && name == fmt::format("cpu{}", *core)) {
      cores.insert(static_cast<int>(*core));
    }
  }
  return cores;
}

/// "4 5 6 7" of each frequency policy; cores off line are in it.
std::vector<std::set<int>> cores_by_policy(const stdfs::path& cpus) {
  std::vector<std::set<int>> policies;
  std::error_code ignored;
  for (stdfs::directory_iterator entry(cpus / "cpufreq", ignored), end; !ignored && entry != end;
       entry.increment(ignored)) {
    std::istringstream text(read_system_text(entry->path() / "related_cpus").value_or(""));
    const std::istream_iterator<int> first(text);
    policies.emplace_back(first, std::istream_iterator<int>());
  }
  return policies;
}

/// "arm,cortex-a55" of the device tree is "ARM Cortex-A55".
std::string type_in_device_tree(const stdfs::path& cpus, int core) {
  const auto text =
      read_system_text(cpus / fmt::format("cpu{}", core) / "of_node/compatible").value_or("");
  return cpu_part_from_compatible(text.substr(0, text.find('\0')));
}

std::string type_of_offline_core(int core, const TypesByCore& online, const stdfs::path& cpus) {
  for (const auto& policy : cores_by_policy(cpus)) {
    if (!policy.contains(core)) {
      continue;
    }
    const auto like =
        std::ranges::find_if(policy, [&online](int neighbor) { return online.contains(neighbor); });
    if (like != policy.end()) {
      return online.at(*like);
    }
  }
  return type_in_device_tree(cpus, core);
}

}  // namespace

std::vector<CoreType> read_core_types(std::string_view cpuinfo, const stdfs::path& root) {
  const auto cpus = root / "sys/devices/system/cpu";
  const auto online = types_in_cpuinfo(cpuinfo);
  auto types = online;
  for (const int core : online.empty() ? std::set<int>() : configured_cores(cpus)) {
    if (!online.contains(core)) {
      if (auto type = type_of_offline_core(core, online, cpus); !type.empty()) {
        types[core] = std::move(type);
      }
    }
  }
  std::vector<CoreType> counted;
  for (const auto& [core, name] : types) {
    auto found = std::ranges::find(counted, name, &CoreType::name);
    if (found == counted.end()) {
      found = counted.insert(counted.end(), {.name = name, .count = 0});
    }
    ++found->count;
  }
  return counted;
}

std::string text_of_core_types(const std::vector<CoreType>& types) {
  std::string text;
  for (const auto& [name, count] : types) {
    text += fmt::format("{}{}x {}", text.empty() ? "" : " + ", count, name);
  }
  return text;
}

}  // namespace assay
