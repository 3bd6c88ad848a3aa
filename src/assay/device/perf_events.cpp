#include "assay/device/perf_events.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "assay/base/file_descriptor.h"
#include "assay/device/text_fields.h"
#include "assay/record/launch.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

constexpr auto kHardware = std::to_array<PerfEvent>({
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
});

constexpr auto kSoftware = std::to_array<PerfEvent>({
    {"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, true},
    {"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, true},
});

FileDescriptor open_event(const PerfEvent& event, int thread, int leader) {
  perf_event_attr wanted{};
  wanted.size = sizeof(wanted);
  wanted.type = event.type;
  wanted.config = event.config;
  wanted.disabled = leader < 0 ? 1 : 0;
  wanted.exclude_kernel = event.is_of_kernel ? 0 : 1;
  wanted.exclude_hv = 1;
  wanted.read_format =
      PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return FileDescriptor(static_cast<int>(
      ::syscall(SYS_perf_event_open, &wanted, thread, -1, leader, PERF_FLAG_FD_CLOEXEC)));
}

std::vector<int> threads_now(const stdfs::path& root) {
  std::vector<int> threads;
  std::error_code ignored;
  for (stdfs::directory_iterator at(root / "proc/self/task", ignored), end; !ignored && at != end;
       at.increment(ignored)) {
    if (const auto id = leading_integer(at->path().filename().string())) {
      threads.push_back(static_cast<int>(*id));
    }
  }
  return threads.empty() ? std::vector<int>{0} : threads;
}

std::string_view name_of_error(int error) {
  const char* name = ::strerrorname_np(error);  // NOLINT(misc-include-cleaner): GNU
  return name == nullptr ? std::string_view("unknown error") : std::string_view(name);
}

/// Layout of what read(2) of a leader returns.
struct GroupReading {
  std::uint64_t count = 0;
  std::uint64_t enabled_ns = 0;
  std::uint64_t running_ns = 0;
  std::array<std::uint64_t, kHardware.size() + kSoftware.size()> values{};
};

}  // namespace

std::span<const PerfEvent> hardware_events() { return kHardware; }
std::span<const PerfEvent> software_events() { return kSoftware; }

std::string perf_refusal(int error, const PerfEvent& event, std::string_view paranoid) {
  switch (error) {
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
      return fmt::format(
          "this processor has no such counter, or the virtual machine's host does not pass it on "
          "({}); switch the virtual PMU on at the host, or count with --callgrind",
          name_of_error(error));
    case EACCES:
    case EPERM:
      return fmt::format(
          "not allowed ({}): kernel.perf_event_paranoid is {}, set it with sysctl to {} or less, "
          "or "
          "give the runner CAP_PERFMON; a container needs perf_event_open in its seccomp profile",
          name_of_error(error), paranoid.empty() ? "not told" : paranoid,
          event.is_of_kernel ? 1 : 2);
    case ENOSYS:
      return "this kernel was built without perf_event (CONFIG_PERF_EVENTS)";
    case EMFILE:
      return "too many open files (EMFILE); raise ulimit -n";
    default:
      return fmt::format("perf_event_open: {} ({})", std::strerror(error), name_of_error(error));
  }
}

PerfCounters PerfCounters::open(std::span<const std::span<const PerfEvent>> groups,
                                const stdfs::path& root) {
  PerfCounters counters;
  const auto threads = threads_now(root);
  for (const auto& events : groups) {
    const auto first = counters.counts_.size();
    for (const auto& event : events) {
      counters.counts_.push_back({.name = std::string(event.name)});
    }
    for (const int thread : threads) {
      counters.open_group(events, first, thread, root);
    }
  }
  counters.enabled_ns_.resize(counters.counts_.size());
  counters.running_ns_.resize(counters.counts_.size());
  return counters;
}

void PerfCounters::open_group(std::span<const PerfEvent> events, std::size_t first, int thread,
                              const stdfs::path& root) {
  Group group;
  for (std::size_t i = 0; i < events.size(); ++i) {
    auto opened = open_event(events[i], thread, group.leader.get());
    const int error = errno;
    if (opened.is_open()) {
      group.events.push_back(first + i);
      if (group.leader.is_open()) {
        group.others.push_back(std::move(opened));
      } else {
        group.leader = std::move(opened);
      }
    } else if (error != ESRCH) {  // A thread that ended meanwhile counts nothing.
      const auto paranoid = read_system_text(root / "proc/sys/kernel/perf_event_paranoid");
      counts_[first + i].unavailable = perf_refusal(error, events[i], paranoid.value_or(""));
    }
  }
  if (group.leader.is_open()) {
    groups_.push_back(std::move(group));
  }
}

void PerfCounters::start() {
  for (const auto& group : groups_) {
    ::ioctl(group.leader.get(), PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
    ::ioctl(group.leader.get(), PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
  }
}

std::vector<EventCount> PerfCounters::stop() {
  for (const auto& group : groups_) {
    ::ioctl(group.leader.get(), PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
  }
  for (const auto& group : groups_) {
    add_readings(group);
  }
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    auto& count = counts_[i];
    if (count.unavailable.empty() && running_ns_[i] == 0) {
      count.unavailable =
          "other work had the processor's counters all the time; stop it (perf stat)";
    }
    if (!count.unavailable.empty()) {
      count.value.reset();
      continue;
    }
    count.running_ratio = static_cast<double>(running_ns_[i]) / static_cast<double>(enabled_ns_[i]);
  }
  groups_.clear();
  return std::exchange(counts_, {});
}

/// A thread that did not run has no time and no counts. One whose group had to take turns counted
/// a part of its time, and is scaled up to all of it.
void PerfCounters::add_readings(const Group& group) {
  GroupReading reading;
  const auto size = ::read(group.leader.get(), &reading, sizeof(reading));
  if (size <= 0 || reading.count != group.events.size()) {
    return;
  }
  for (std::size_t i = 0; i < group.events.size(); ++i) {
    const auto at = group.events[i];
    enabled_ns_[at] += reading.enabled_ns;
    running_ns_[at] += reading.running_ns;
    const double scale = reading.running_ns == 0 ? 0
                                                 : static_cast<double>(reading.enabled_ns) /
                                                       static_cast<double>(reading.running_ns);
    counts_[at].value =
        counts_[at].value.value_or(0) + static_cast<double>(reading.values.at(i)) * scale;
  }
}

}  // namespace assay
