#pragma once

#include <string>

#include "assay/base/file_descriptor.h"
#include "assay/base/result.h"
#include "assay/record/sandbox.h"

namespace assay {

/// The box of one process: made before the fork, entered between fork and exec.
///
/// Whatever the kernel has is used, and each part works without the others: namespaces (user,
/// process, mount, network, IPC) for processes in reach, network and a bounded private folder;
/// Landlock for files; seccomp for sockets and system calls that inspect others or change the
/// system. The process becomes a child of an init of its own, which ends what it leaves behind.
class Sandbox {
 public:
  /// `folder`: the private one. Errors: kUnavailable when something cannot be enforced and the mode
  /// is kRequired; the message says what and why.
  static Result<Sandbox> prepare(const SandboxRequest& request, const std::string& folder);

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

  /// How many processes the program left; known when it has ended.
  [[nodiscard]] int left_processes() const;

 private:
  /// Memory that the processes of the sandbox share.
  struct Shared;

  Sandbox() = default;
  [[nodiscard]] int enter_namespaces() const;
  [[nodiscard]] int restrict_files() const;
  [[noreturn]] void serve_as_init() const;

  FileDescriptor ruleset_;  ///< Ruleset of Landlock; invalid where the kernel has none.
  bool has_namespaces_ = false;
  bool has_seccomp_ = false;
  bool keeps_files_ = false;
  std::string folder_;
  Shared* shared_ = nullptr;
  SandboxReport report_;
};

/// Reports what a sandbox of this mode enforces here. Errors: kUnavailable when the mode is
/// kRequired and something cannot be enforced.
Result<SandboxReport> promise_sandbox(SandboxMode mode, bool keeps_files = false);

}  // namespace assay
