#pragma once

#include <cstdint>
#include <vector>

#include <sys/types.h>

namespace assay {

/// Watches what the processes of a launch use together. When they are killed, nobody waits for each
/// of them, and so the kernel's own count has only some.
class UsageWatch {
 public:
  /// Notes what they use now. `roots`: processes, whose descendants count too.
  void look(const std::vector<pid_t>& roots);

  /// Notes it, and says whether they hold more than that. Pages that processes share count once:
  /// beyond the limit by those of each, their shares are added up, which costs some ms a GB, and
  /// not more often than every 250 ms while little has changed.
  bool exceeds(const std::vector<pid_t>& roots, std::int64_t limit_bytes);

  /// The largest of what was noted.
  [[nodiscard]] std::int64_t peak_bytes() const { return peak_bytes_; }
  [[nodiscard]] std::int64_t user_ns() const { return user_ns_; }
  [[nodiscard]] std::int64_t system_ns() const { return system_ns_; }

 private:
  void note_memory(std::int64_t bytes);

  std::int64_t peak_bytes_ = 0;
  std::int64_t user_ns_ = 0;
  std::int64_t system_ns_ = 0;
  std::int64_t repeated_bytes_ = 0;  ///< Excess of the sum of all, when last counted.
  std::int64_t recount_ns_ = 0;      ///< When to count again.
};

}  // namespace assay
