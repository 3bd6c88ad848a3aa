#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "assay/base/result.h"
#include "assay/campaign/launch_order.h"
#include "assay/record/subject.h"
#include "assay/supervise/agent_client.h"

namespace assay {

/// Launches programs whose files stay what they were digested as. A file that was replaced or
/// written to, before a launch or during it, makes a launch of outcome harness_error and reason
/// "program_changed": two programs are never mixed in one row. Thread-safe.
///
/// A file is digested at its first launch and again when its size, time, or place on the disk has
/// changed; else a check costs one stat.
class WatchedLaunches {
 public:
  /// As run_launch.
  Result<LaunchYield> run(AgentClient& agent, const LaunchOrder& order);

 private:
  struct Stamp {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t bytes = 0;
    std::int64_t modified_ns = 0;
    std::int64_t changed_ns = 0;
    bool operator==(const Stamp&) const = default;
  };

  static std::optional<Stamp> stamp_of_file(const std::string& path);
  /// A sentence about the first file that is another one by now; empty: all are the same.
  std::string find_change(const Artifact& artifact);
  std::string find_change(const std::string& path, const ArtifactFile& file);

  std::mutex mutex_;
  std::map<std::string, Stamp> known_;  ///< By path: the stamp under which the digest was right.
};

}  // namespace assay
