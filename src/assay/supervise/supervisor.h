#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/base/result.h"
#include "assay/device/oom_kills.h"
#include "assay/record/spawn.h"
#include "assay/supervise/child_process.h"
#include "assay/supervise/process_tree.h"
#include "assay/supervise/spawn.h"
#include "assay/supervise/stderr_tail.h"
#include "assay/supervise/usage_watch.h"

namespace assay {

/// Watches one child to its end: pipes, limits, death.
class Supervisor {
 public:
  /// `request` outlives the object.
  Supervisor(ChildProcess child, const SpawnRequest& request, const SpawnCancel& cancel,
             std::int64_t start_ns, LaunchProcesses processes);

  /// Returns when the child has ended, been reaped, and its pipes are read.
  /// Errors: kUnavailable when cancelled.
  Status run();

  /// Takes the result of run(), without the conditions.
  [[nodiscard]] SpawnResult take_result();

 private:
  void step(int timeout_ms);
  void write_input();
  void read_output();
  void read_errors();
  void keep_limits();
  void look_for_exit();
  void kill_group();
  void end_remains();
  void reap();
  void drain();
  [[nodiscard]] int timeout_ms() const;

  ChildProcess child_;
  const SpawnRequest& request_;
  SpawnCancel cancel_;
  std::span<const std::byte> input_left_;
  std::int64_t start_ns_;
  OomKills oom_kills_before_;
  LaunchProcesses processes_;
  bool is_killed_ = false;
  bool is_cancelled_ = false;
  bool has_exited_ = false;
  bool is_reaped_ = false;
  UsageWatch usage_;
  StderrTail words_;
  std::vector<std::byte> buffer_;
  SpawnResult result_;
};

}  // namespace assay
