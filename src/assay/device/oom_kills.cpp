#include "assay/device/oom_kills.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "assay/device/text_fields.h"

namespace assay {
namespace {

/// The number of the line "oom_kill 3".
std::optional<std::int64_t> find_oom_kills(const std::filesystem::path& file) {
  constexpr std::string_view kKey = "oom_kill ";
  std::istringstream lines(read_system_text(file).value_or(""));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kKey)) {
      return leading_integer(std::string_view(line).substr(kKey.size()));
    }
  }
  return std::nullopt;
}

/// The file that tells of the group in a line of /proc/self/cgroup: "0::/user.slice", or
/// "4:memory:/docker/1". Empty for other hierarchies.
std::filesystem::path events_file(const std::filesystem::path& mount, std::string_view line) {
  const auto first = line.find(':');
  const auto second = line.find(':', first + 1);
  if (first == std::string_view::npos || second == std::string_view::npos) {
    return {};
  }
  const auto controllers = line.substr(first + 1, second - first - 1);
  const auto group = std::filesystem::path(line.substr(second + 1)).relative_path();
  if (controllers.empty()) {
    return mount / group / "memory.events";
  }
  return controllers == "memory" ? mount / "memory" / group / "memory.oom_control"
                                 : std::filesystem::path();
}

}  // namespace

OomKills count_oom_kills(const std::filesystem::path& root) {
  std::istringstream groups(read_system_text(root / "proc/self/cgroup").value_or(""));
  for (std::string line; std::getline(groups, line);) {
    const auto file = events_file(root / "sys/fs/cgroup", line);
    if (const auto count = file.empty() ? std::nullopt : find_oom_kills(file)) {
      return {.count = *count, .is_of_group = true};
    }
  }
  return {.count = find_oom_kills(root / "proc/vmstat").value_or(0)};
}

bool is_oom_kill(const OomKills& before, const OomKills& after, std::int64_t peak_bytes,
                 std::int64_t machine_bytes) {
  constexpr std::int64_t kLargePart = 8;
  const bool is_large = peak_bytes >= machine_bytes / kLargePart;
  return after.count > before.count && before.is_of_group == after.is_of_group &&
         (after.is_of_group || is_large);
}

}  // namespace assay
