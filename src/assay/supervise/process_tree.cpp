#include "assay/supervise/process_tree.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
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

/// "pid (name) state ppid pgrp … utime stime …": what stands behind the name, which may hold
/// anything.
std::string state_and_group(pid_t pid) {
  const auto text = read_system_text(fmt::format("/proc/{}/stat", pid)).value_or("");
  const auto end = text.rfind(") ");
  return end == std::string::npos ? std::string() : text.substr(end + 2);
}

bool is_running(std::string_view state) {
  return !state.empty() && state.front() != 'Z' && state.front() != 'X';
}

/// A number behind the state, which is field 0; 0 if there is none.
std::int64_t number_in_state(std::string_view state, int field) {
  for (int i = 0; i < field; ++i) {
    const auto blank = state.find(' ');
    state.remove_prefix(blank == std::string_view::npos ? state.size() : blank + 1);
  }
  return leading_integer(state).value_or(0);
}

pid_t parent_from(std::string_view state) { return static_cast<pid_t>(number_in_state(state, 1)); }

pid_t group_from(std::string_view state) { return static_cast<pid_t>(number_in_state(state, 2)); }

/// Reads /proc/<pid>/smaps_rollup, or statm if there is none.
std::int64_t proportional_bytes(pid_t pid) {
  const auto text = read_system_text(fmt::format("/proc/{}/smaps_rollup", pid));
  constexpr std::int64_t kKib = 1024;
  const auto kib = text ? find_integer_field(*text, "Pss") : std::nullopt;
  return kib ? *kib * kKib : resident_bytes(pid);
}

/// All descendants of the roots behind the roots themselves.
std::vector<pid_t> with_descendants(std::vector<pid_t> pids) {
  constexpr std::size_t kMostProcesses = 10'000;
  for (std::size_t i = 0; i < pids.size() && i < kMostProcesses; ++i) {
    const auto children = children_of_process(pids[i]);
    pids.insert(pids.end(), children.begin(), children.end());
  }
  return pids;
}

}  // namespace

bool lists_children() {
  static const bool is_listed = ::access("/proc/thread-self/children", F_OK) == 0;
  return is_listed;
}

std::vector<pid_t> children_by_parent(pid_t pid) {
  std::vector<pid_t> children;
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    const auto name = entry->path().filename().string();
    const auto number = static_cast<pid_t>(leading_integer(name).value_or(0));
    if (number > 0 && parent_from(state_and_group(number)) == pid) {
      children.push_back(number);
    }
  }
  return children;
}

std::vector<pid_t> children_of_process(pid_t pid) {
  if (!lists_children()) {
    return children_by_parent(pid);
  }
  std::vector<pid_t> children;
  std::error_code error;
  for (const auto& task :
       std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid), error)) {
    const auto text = read_system_text((task.path() / "children").string());
    std::string_view rest = text ? std::string_view(*text) : std::string_view{};
    while (const auto child = leading_integer(rest)) {
      children.push_back(static_cast<pid_t>(*child));
      const auto blank = rest.find(' ');
      rest = blank == std::string_view::npos ? std::string_view{} : rest.substr(blank + 1);
    }
  }
  return children;
}

std::int64_t resident_bytes_of_trees(std::vector<pid_t> roots) {
  std::int64_t bytes = 0;
  for (const pid_t pid : with_descendants(std::move(roots))) {
    bytes += resident_bytes(pid);
  }
  return bytes;
}

std::int64_t shared_bytes_of_trees(std::vector<pid_t> roots) {
  std::int64_t bytes = 0;
  for (const pid_t pid : with_descendants(std::move(roots))) {
    bytes += proportional_bytes(pid);
  }
  return bytes;
}

ProcessTimes times_of_trees(std::vector<pid_t> roots) {
  constexpr int kUser = 11;  // Own; two behind: that of children it waited for.
  constexpr int kSystem = 12;
  constexpr int kOfChildren = 2;
  const auto tick_ns = 1'000'000'000 / std::max<std::int64_t>(::sysconf(_SC_CLK_TCK), 1);
  ProcessTimes times;
  for (const pid_t pid : with_descendants(std::move(roots))) {
    const auto state = state_and_group(pid);
    times.user_ns +=
        tick_ns * (number_in_state(state, kUser) + number_in_state(state, kUser + kOfChildren));
    times.system_ns +=
        tick_ns * (number_in_state(state, kSystem) + number_in_state(state, kSystem + kOfChildren));
  }
  return times;
}

void adopt_orphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

LaunchProcesses::LaunchProcesses() {
  int adopts = 0;
  adopts_ = ::prctl(PR_GET_CHILD_SUBREAPER, &adopts, 0, 0, 0) == 0 && adopts != 0;
  if (adopts_) {
    others_ = children_of_process(::getpid());
  }
}

std::vector<pid_t> LaunchProcesses::orphans(pid_t own) const {
  auto pids = adopts_ ? children_of_process(::getpid()) : std::vector<pid_t>();
  std::erase_if(pids, [this, own](pid_t pid) {
    return pid == own || std::ranges::find(others_, pid) != others_.end();
  });
  return pids;
}

std::vector<pid_t> LaunchProcesses::roots(pid_t own) const {
  auto pids = orphans(own);
  pids.push_back(own);
  return pids;
}

int LaunchProcesses::count_running(pid_t own, bool without_group) const {
  int count = 0;
  for (const pid_t pid : with_descendants(orphans(own))) {
    const auto state = state_and_group(pid);
    count += is_running(state) && !(without_group && group_from(state) == own) ? 1 : 0;
  }
  return count;
}

/// Those that fork while they are ended come to us as well, and are ended in the next round.
void LaunchProcesses::end(pid_t own) const {
  constexpr int kMostRounds = 10'000;
  for (int round = 0; round < kMostRounds; ++round) {
    const auto pids = orphans(own);
    if (pids.empty()) {
      return;
    }
    for (const pid_t pid : with_descendants(pids)) {
      ::kill(pid, SIGKILL);
    }
    for (const pid_t pid : pids) {
      while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
  }
}

}  // namespace assay
