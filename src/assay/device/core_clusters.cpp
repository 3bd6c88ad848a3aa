#include "assay/device/core_clusters.h"

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>

#include "assay/device/text_fields.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

/// Cores by their speed, the fastest first.
using CoresBySpeed = std::map<std::int64_t, std::set<int>, std::greater<>>;

/// The number of "cpu12"; -1 for other names.
int core_of_folder(std::string_view name) {
  int core = -1;
  const auto digits = name.substr(name.starts_with("cpu") ? 3 : name.size());
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), core);
  return error == std::errc() && end == digits.data() + digits.size() ? core : -1;
}

/// Cores that are off line may not tell it, and have no name.
CoresBySpeed read_speeds(const stdfs::path& cpus, const char* file) {
  CoresBySpeed cores;
  std::error_code ignored;
  for (stdfs::directory_iterator entry(cpus, ignored), end; !ignored && entry != end;
       entry.increment(ignored)) {
    const int core = core_of_folder(entry->path().filename().string());
    const auto text = core < 0 ? std::nullopt : read_system_text(entry->path() / file);
    if (const auto speed = text ? leading_integer(*text) : std::nullopt) {
      cores[*speed].insert(core);
    }
  }
  return cores;
}

CoresBySpeed join_alike(const CoresBySpeed& cores) {
  constexpr double kAlikeRatio = 0.9;
  CoresBySpeed joined;
  for (const auto& [speed, set] : cores) {
    const bool is_alike =
        !joined.empty() && static_cast<double>(speed) >=
                               kAlikeRatio * static_cast<double>(std::prev(joined.end())->first);
    const auto key = is_alike ? std::prev(joined.end())->first : speed;
    joined[key].insert(set.begin(), set.end());
  }
  return joined;
}

/// "0-3,6".
std::string list_of(const std::set<int>& cores) {
  std::string list;
  for (auto core = cores.begin(); core != cores.end();) {
    const int first = *core;
    int after = first + 1;
    for (++core; core != cores.end() && *core == after; ++core) {
      ++after;
    }
    list += fmt::format("{}{}{}", list.empty() ? "" : ",", first,
                        after == first + 1 ? "" : fmt::format("-{}", after - 1));
  }
  return list;
}

}  // namespace

std::map<std::string, std::string> read_core_clusters(const stdfs::path& root) {
  const auto cpus = root / "sys/devices/system/cpu";
  auto cores = read_speeds(cpus, "cpu_capacity");
  if (cores.empty()) {
    cores = join_alike(read_speeds(cpus, "cpufreq/cpuinfo_max_freq"));
  }
  if (cores.size() < 2) {
    return {};
  }
  const auto& little = std::prev(cores.end())->second;
  std::set<int> mid;
  for (auto group = std::next(cores.begin()); group != std::prev(cores.end()); ++group) {
    mid.insert(group->second.begin(), group->second.end());
  }
  std::map<std::string, std::string> clusters = {{"big", list_of(cores.begin()->second)},
                                                 {"little", list_of(little)}};
  if (!mid.empty()) {
    clusters["mid"] = list_of(mid);
  }
  return clusters;
}

}  // namespace assay
