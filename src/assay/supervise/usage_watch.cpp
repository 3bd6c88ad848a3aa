#include "assay/supervise/usage_watch.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <sys/types.h>

#include "assay/base/clock.h"
#include "assay/supervise/process_tree.h"

namespace assay {

void UsageWatch::note_memory(std::int64_t bytes) { peak_bytes_ = std::max(peak_bytes_, bytes); }

void UsageWatch::look(const std::vector<pid_t>& roots) {
  const auto times = times_of_trees(roots);
  user_ns_ = std::max(user_ns_, times.user_ns);
  system_ns_ = std::max(system_ns_, times.system_ns);
  note_memory(std::min(resident_bytes_of_trees(roots), shared_bytes_of_trees(roots)));
}

bool UsageWatch::exceeds(const std::vector<pid_t>& roots, std::int64_t limit_bytes) {
  constexpr std::int64_t kRecountNs = 250'000'000;
  const auto resident = resident_bytes_of_trees(roots);
  if (resident <= limit_bytes) {
    note_memory(resident);
    return false;
  }
  if (resident - repeated_bytes_ > limit_bytes || monotonic_ns() >= recount_ns_) {
    repeated_bytes_ = std::max<std::int64_t>(resident - shared_bytes_of_trees(roots), 0);
    recount_ns_ = monotonic_ns() + kRecountNs;
  }
  note_memory(resident - repeated_bytes_);
  return resident - repeated_bytes_ > limit_bytes;
}

}  // namespace assay
