#include "assay/device/thread_times.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "assay/device/text_fields.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

constexpr std::int64_t kBusy = 20;  ///< One twentieth: less is a helper, no worker.

/// "time on the processor, time waiting, time slices"; all zeros where the kernel does not count.
std::optional<ThreadTimes> times_from_text(std::string_view schedstat) {
  const auto on_cpu_ns = leading_integer(schedstat);
  const auto waiting_ns =
      leading_integer(trimmed(schedstat.substr(std::min(schedstat.find(' '), schedstat.size()))));
  if (!on_cpu_ns || *on_cpu_ns == 0 || !waiting_ns) {
    return std::nullopt;
  }
  return ThreadTimes{.on_cpu_ns = *on_cpu_ns, .waiting_ns = *waiting_ns};
}

/// A thread that is new has its times since it began.
ThreadTimes times_of(const std::vector<ThreadTimes>& threads, int id) {
  const auto found = std::ranges::find(threads, id, &ThreadTimes::id);
  return found == threads.end() ? ThreadTimes{} : *found;
}

}  // namespace

std::optional<std::vector<ThreadTimes>> read_thread_times(const stdfs::path& root) {
  std::vector<ThreadTimes> threads;
  std::error_code ignored;
  for (stdfs::directory_iterator thread(root / "proc/self/task", ignored), end;
       !ignored && thread != end; thread.increment(ignored)) {
    const auto text = read_system_text(thread->path() / "schedstat");
    auto times = text ? times_from_text(*text) : std::nullopt;
    if (times) {
      times->id = static_cast<int>(leading_integer(thread->path().filename().string()).value_or(0));
      threads.push_back(*times);
    }
  }
  return threads.empty() ? std::nullopt : std::optional(threads);
}

std::optional<ThreadWork> work_between(const std::optional<std::vector<ThreadTimes>>& before,
                                       const std::optional<std::vector<ThreadTimes>>& after) {
  if (!before || !after) {
    return std::nullopt;
  }
  const auto has_ended = [&after](const ThreadTimes& thread) {
    return std::ranges::find(*after, thread.id, &ThreadTimes::id) == after->end();
  };
  if (std::ranges::any_of(*before, has_ended)) {
    return std::nullopt;
  }
  ThreadWork work;
  std::vector<std::int64_t> on_cpu_ns;
  for (const auto& thread : *after) {
    const auto start = times_of(*before, thread.id);
    work.waiting_ns += thread.waiting_ns - start.waiting_ns;
    on_cpu_ns.push_back(thread.on_cpu_ns - start.on_cpu_ns);
    work.busiest_ns = std::max(work.busiest_ns, on_cpu_ns.back());
  }
  const auto is_busy = [&work](std::int64_t ns) { return ns > 0 && ns >= work.busiest_ns / kBusy; };
  work.busy = static_cast<int>(std::ranges::count_if(on_cpu_ns, is_busy));
  return work;
}

}  // namespace assay
