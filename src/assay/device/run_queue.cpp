#include "assay/device/run_queue.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "assay/device/text_fields.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

/// "time on the processor, time waiting, time slices"; all zeros where the kernel does not count.
std::optional<std::int64_t> wait_of_thread(std::string_view schedstat) {
  const auto on_cpu_ns = leading_integer(schedstat);
  if (!on_cpu_ns || *on_cpu_ns == 0) {
    return std::nullopt;
  }
  return leading_integer(
      trimmed(schedstat.substr(std::min(schedstat.find(' '), schedstat.size()))));
}

}  // namespace

std::optional<std::int64_t> read_run_queue_wait_ns(const stdfs::path& root) {
  std::optional<std::int64_t> total;
  std::error_code ignored;
  for (stdfs::directory_iterator thread(root / "proc/self/task", ignored), end;
       !ignored && thread != end; thread.increment(ignored)) {
    const auto text = read_system_text(thread->path() / "schedstat");
    if (const auto wait_ns = text ? wait_of_thread(*text) : std::nullopt) {
      total = total.value_or(0) + *wait_ns;
    }
  }
  return total;
}

}  // namespace assay
