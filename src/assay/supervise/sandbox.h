#pragma once

#include <string>

#include "assay/base/result.h"
#include "assay/record/sandbox.h"
#include "assay/supervise/sandbox_abilities.h"
#include "assay/supervise/sandbox_files.h"
#include "assay/supervise/sandbox_view.h"

namespace assay {

/// The box of one process: made before the fork, entered between fork and exec.
///
/// Whatever the kernel has is used, and each part works without the others: namespaces (user,
/// process, mount, network, IPC) for processes in reach, network, a bounded private folder, and
/// file systems that are read-only elsewhere; Landlock for files; seccomp for sockets, for system
/// calls that inspect others or change the system, and, where the file systems cannot be made
/// read-only, for those that change a file past Landlock. The process has no capability but those
/// by which root reads files of others. It becomes a child of an init of its own, which ends what
/// it leaves behind.
class Sandbox {
 public:
  /// `folder`: the private one. Errors: kUnavailable when something cannot be enforced and the mode
  /// is kRequired; the message says what and why.
  static Result<Sandbox> prepare(const SandboxRequest& request, const std::string& folder,
                                 const SandboxAbilities& abilities = sandbox_abilities());

  Sandbox(Sandbox&& other) noexcept;
  Sandbox& operator=(Sandbox&& other) noexcept;
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;
  ~Sandbox();

  /// Between fork and exec, without allocation. Returns in the process that is to execute the
  /// program: 0, or the errno of what failed. The calling process stays outside, and ends as the
  /// program ends.
  [[nodiscard]] int enter() const;

  [[nodiscard]] bool keeps_files() const { return keeps_files_; }

  [[nodiscard]] const SandboxReport& report() const { return report_; }

  /// The number of processes that the program left behind; known after its end.
  [[nodiscard]] int left_processes() const;

 private:
  /// Memory that the processes of the sandbox share.
  struct Shared;

  Sandbox() = default;
  [[nodiscard]] int enter_namespaces() const;
  [[noreturn]] void serve_as_init() const;

  SandboxFiles files_;
  SandboxView view_;
  bool has_namespaces_ = false;
  bool has_seccomp_ = false;
  bool keeps_files_ = false;
  Shared* shared_ = nullptr;
  SandboxReport report_;
};

/// Reports what a sandbox of this mode enforces here. Errors: kUnavailable when the mode is
/// kRequired and something cannot be enforced.
Result<SandboxReport> promise_sandbox(SandboxMode mode, bool keeps_files = false,
                                      const SandboxAbilities& abilities = sandbox_abilities());

}  // namespace assay
