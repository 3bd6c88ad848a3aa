#pragma once

#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "assay/base/file_descriptor.h"
#include "assay/base/result.h"

namespace assay {

/// A running program that speaks frames on its stdin and stdout: the agent itself, or the ssh or
/// adb that leads to one. In a process group of its own, so that Ctrl-C reaches only us. Its stderr
/// is ours. Destroying the object closes it.
class AgentProcess {
 public:
  /// Errors: kUnavailable when argv[0] cannot be started.
  static Result<AgentProcess> start(const std::vector<std::string>& argv);

  AgentProcess(AgentProcess&& other) noexcept { swap(other); }
  AgentProcess& operator=(AgentProcess&& other) noexcept {
    swap(other);
    return *this;
  }
  AgentProcess(const AgentProcess&) = delete;
  AgentProcess& operator=(const AgentProcess&) = delete;
  ~AgentProcess() { close(); }

  [[nodiscard]] int read_fd() const { return read_end_.get(); }
  [[nodiscard]] int write_fd() const { return write_end_.get(); }
  [[nodiscard]] pid_t pid() const { return pid_; }

  /// Closes the pipes, which asks it to end; kills it if it lives on for two seconds. Returns how
  /// it ended: "exited with 0", "was ended by signal 9 (Killed)". A second call returns the same.
  std::string close();

 private:
  AgentProcess() = default;
  void swap(AgentProcess& other) noexcept {
    std::swap(pid_, other.pid_);
    std::swap(read_end_, other.read_end_);
    std::swap(write_end_, other.write_end_);
    std::swap(end_, other.end_);
  }

  pid_t pid_ = -1;
  FileDescriptor read_end_;
  FileDescriptor write_end_;
  std::string end_ = "was never started";
};

}  // namespace assay
