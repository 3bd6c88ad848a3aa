#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "assay/base/file_descriptor.h"
#include "assay/base/result.h"

namespace assay {

/// A child process with pipes to its stdin and from its stdout; stderr stays ours, or goes to a
/// file. For the host's own helpers (a toolchain's Python, cmake); engines run under supervise
/// instead. The child dies with the parent. Destroying the object kills and reaps it.
class Subprocess {
 public:
  struct Options {
    std::vector<std::string> argv;
    std::map<std::string, std::string> env;  ///< Added to ours.
    std::string stderr_file;                 ///< Empty: ours.
    std::string stdin_file = {};             ///< Empty: the pipe, which write() fills.
    std::string stdout_file = {};            ///< Empty: the pipe, which read_line() reads.
    std::string folder = {};                 ///< Working folder; empty: ours.
    bool has_only_env = false;               ///< It sees `env` and none of our variables.
    bool leads_group = false;                ///< It leads a process group: kill_group().
    int niceness = 0;                        ///< Added to ours.
    /// Descriptors that it and its own children inherit: a lock lasts as long as any of them lives.
    std::vector<int> kept = {};
  };

  /// Errors: kNotFound when argv[0] cannot be executed, kExhausted when there is no further file or
  /// process, naming the limit; kUnavailable for a stdin_file that cannot be read.
  static Result<Subprocess> start(const Options& options);
  Subprocess(Subprocess&& other) noexcept;
  Subprocess& operator=(Subprocess&& other) noexcept;
  Subprocess(const Subprocess&) = delete;
  Subprocess& operator=(const Subprocess&) = delete;
  ~Subprocess();

  /// Errors: kCrashed when the child no longer reads.
  Status write(std::string_view text);
  void close_stdin();
  /// The next line without its end; nullopt at the end, or when `timeout` passed (then is_at_end()
  /// is false). The end is that of stdout, or of the child when all that it printed is read: a
  /// process that it left behind, which holds stdout open, is not waited for. Errors: kCorrupt for
  /// a line of more than 64 MiB.
  Result<std::optional<std::string>> read_line(std::chrono::milliseconds timeout);
  [[nodiscard]] bool is_at_end() const { return is_at_end_; }
  void kill(int signal);
  /// Also those that it started, unless they left its group. Does nothing to a child that leads
  /// none.
  void kill_group(int signal);
  /// True once the child has ended; waits `timeout` for it. It can still be signalled with its
  /// group until wait() has reaped it.
  [[nodiscard]] bool has_ended(std::chrono::milliseconds timeout) const;
  /// Waits for the end; the exit code, or 128 + signal.
  int wait();
  /// The signal that ended the child, once it was waited for; 0: none.
  [[nodiscard]] int signal() const { return signal_; }

 private:
  enum class Readiness : std::uint8_t { kNothing, kOutput, kEnd, kError };

  Subprocess() = default;
  [[nodiscard]] Readiness wait_for_output(std::chrono::milliseconds timeout) const;
  std::optional<std::string> finish();

  pid_t pid_ = -1;
  bool leads_group_ = false;
  int signal_ = 0;
  FileDescriptor stdin_;
  FileDescriptor stdout_;
  FileDescriptor ended_;  ///< Readable when the child has ended.
  bool is_at_end_ = false;
  std::string buffer_;        ///< Read and not yet handed out.
  std::size_t searched_ = 0;  ///< Bytes of it that hold no end of a line.
};

struct CommandOutput {
  int exit_code = 0;  ///< Result of Subprocess::wait().
  int signal = 0;     ///< Signal that ended it; 0: none.
  std::string output;
};

/// Runs a command to its end and collects stdout. Errors: those of start; kTimeout; kCorrupt for
/// more than 64 MiB of output. The child is then killed.
Result<CommandOutput> run_command(const Subprocess::Options& options,
                                  std::chrono::milliseconds timeout);

}  // namespace assay
