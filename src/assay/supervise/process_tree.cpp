#include "assay/supervise/process_tree.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "assay/device/text_fields.h"

namespace assay {
namespace {

/// Second field of /proc/<pid>/statm, in pages.
std::int64_t resident_bytes(pid_t pid) {
  const auto text = read_system_text(fmt::format("/proc/{}/statm", pid));
  const std::string_view fields = text ? std::string_view(*text) : std::string_view{};
  const auto blank = std::min(fields.find(' '), fields.size());
  return leading_integer(fields.substr(blank)).value_or(0) * ::sysconf(_SC_PAGESIZE);
}

void append_children(pid_t pid, std::vector<pid_t>& pids) {
  const auto text = read_system_text(fmt::format("/proc/{0}/task/{0}/children", pid));
  std::string_view rest = text ? std::string_view(*text) : std::string_view{};
  while (const auto child = leading_integer(rest)) {
    pids.push_back(static_cast<pid_t>(*child));
    const auto blank = rest.find(' ');
    rest = blank == std::string_view::npos ? std::string_view{} : rest.substr(blank + 1);
  }
}

}  // namespace

std::int64_t resident_bytes_of_tree(pid_t pid) {
  constexpr std::size_t kMostProcesses = 1000;
  std::vector<pid_t> pids = {pid};
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < pids.size() && i < kMostProcesses; ++i) {
    bytes += resident_bytes(pids[i]);
    append_children(pids[i], pids);
  }
  return bytes;
}

std::int64_t count_oom_kills() {
  constexpr std::string_view kKey = "\noom_kill ";
  const auto text = read_system_text("/proc/vmstat").value_or("");
  const auto at = text.find(kKey);
  return at == std::string::npos
             ? 0
             : leading_integer(std::string_view(text).substr(at + kKey.size())).value_or(0);
}

}  // namespace assay
