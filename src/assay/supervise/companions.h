#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/spawn.h"

namespace assay {

/// Processes that keep the machine busy while another one is measured; they die with the object.
///
/// A companion speaks frames on its stdout, as runners do: it is at work when it has told the stage
/// kSteady. Up to then it may write 16 MiB; what it writes afterwards is read by a thread and
/// dropped. One that is to run in a sandbox gets a private folder, too.
class Companions {
 public:
  /// Starts all and waits until each is at work. The program "assay-agent" is the running program
  /// where that is the agent, under whatever name, else the agent that lies next to it. `work_ns`:
  /// how long they work at most. Errors: those of start_child and of Sandbox::prepare; kUnavailable
  /// when one ends, is not at work within a minute, with its last words, or writes too much before.
  static Result<Companions> start(const std::vector<Companion>& companions, std::int64_t work_ns);

  Companions(Companions&&) noexcept;
  Companions& operator=(Companions&&) noexcept;
  ~Companions();

  /// Describes the end of the first companion that ended by itself; empty while all work.
  [[nodiscard]] std::string find_failure();

 private:
  class Process;
  class Drain;
  class Remains;
  Companions();
  std::unique_ptr<Remains> remains_;  ///< Ends what the processes leave, behind them.
  std::vector<std::unique_ptr<Process>> processes_;
  std::unique_ptr<Drain> drain_;  ///< Reads the output of the processes; ends before them.
};

/// Implements `assay-agent --keep-busy KIND`: reports that it is at work, and computes ("cpu") or
/// streams over 64 MiB ("memory") until it is killed. Errors: kInvalidArgument for another kind.
Status keep_busy(const std::string& kind, int write_fd);

}  // namespace assay
