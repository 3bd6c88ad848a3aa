#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/file_descriptor.h"
#include "assay/record/launch.h"

namespace assay {

/// One thing that the kernel can count. Type and config are those of perf_event_open(2).
struct PerfEvent {
  std::string_view name;
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  bool is_of_kernel = false;  ///< Happens in the kernel: counting user code alone gives 0.
};

/// instructions, cycles, cache-misses, branch-misses: from the processor.
std::span<const PerfEvent> hardware_events();
/// task-clock (ns), page-faults, context-switches, cpu-migrations: from the kernel itself.
std::span<const PerfEvent> software_events();

/// Counts events in all threads that this process has now; threads that begin later are left out.
///
/// The events of one group count at the same time, so that ratios of them hold: a processor has
/// few counters, and groups take turns on them. Kernel time is left out, but for events that
/// happen there. Not thread-safe. One file descriptor for each event and thread.
/// Source: perf_event_open(2).
class PerfCounters {
 public:
  /// Never fails: stop() says what could not be counted. `root`: where /proc is found.
  static PerfCounters open(std::span<const std::span<const PerfEvent>> groups,
                           const std::filesystem::path& root = "/");

  void start();
  /// Stops, and gives one entry for each event, in order, summed over the threads.
  std::vector<EventCount> stop();

 private:
  /// The events of one group that could be opened, in one thread.
  struct Group {
    FileDescriptor leader;
    std::vector<FileDescriptor> others;
    std::vector<std::size_t> events;  ///< Index into counts_, in order of opening.
  };

  void open_group(std::span<const PerfEvent> events, std::size_t first, int thread,
                  const std::filesystem::path& root);
  void add_readings(const Group& group);

  std::vector<Group> groups_;
  std::vector<EventCount> counts_;
  std::vector<std::uint64_t> enabled_ns_;  ///< Time of each event, summed over the threads.
  std::vector<std::uint64_t> running_ns_;
};

/// Why an event cannot be counted, and what to set. `error`: the errno of perf_event_open;
/// `paranoid`: text of /proc/sys/kernel/perf_event_paranoid, empty if it is unknown.
std::string perf_refusal(int error, const PerfEvent& event, std::string_view paranoid);

}  // namespace assay
