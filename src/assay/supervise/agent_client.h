#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/device/agent_process.h"
#include "assay/device/transport.h"
#include "assay/record/launch.h"
#include "assay/record/run.h"
#include "assay/record/spawn.h"
#include "assay/wire/agent_messages.h"
#include "assay/wire/channel.h"
#include "assay/wire/frame.h"
#include "assay/wire/messages.h"

namespace assay {

/// A file of a tree on a device.
struct TreeSource {
  std::string path;            ///< Path in the tree, with "/".
  std::filesystem::path file;  ///< Here.
  std::string sha256;
  bool is_executable = false;
};

/// The host's side of an agent. Needs the transport only while it connects. Not thread-safe.
///
/// Every call may fail with kCrashed when the agent is gone (the message tells how it ended) or
/// kTimeout when it does not answer; the client is of no further use then, and a new one must
/// connect.
class AgentClient {
 public:
  struct Options {
    /// Period of the agent's signs of life while it works on a request. 0: none, so that
    /// an agent of this machine does not wake up while it times.
    std::int64_t heartbeat_ns = 0;
    int most_missed = 3;  ///< So many intervals without a sign of it are a loss (kTimeout).
    /// Told once a request, after two such intervals: most likely the device is gone.
    std::function<void()> on_silence = {};
  };

  /// Starts an agent and greets it. Errors: also kUnavailable, kUnsupported (it speaks another
  /// protocol).
  static Result<AgentClient> connect(Transport& transport, const Options& options);
  static Result<AgentClient> connect(Transport& transport) { return connect(transport, {}); }

  /// Runs a program there to its end; waits 30 s longer than its deadline. Errors: kNotFound,
  /// kInvalidArgument, kUnavailable, kExhausted when it could not be started; how it ended is no
  /// error.
  Result<SpawnResult> spawn(const SpawnRequest& request);

  /// True if the device holds the blob, undamaged.
  Result<bool> has(std::string_view sha256);

  /// Stores a blob; its path there. Errors: kCorrupt when the content has another digest;
  /// kExhausted with the needed and the free bytes.
  Result<std::string> put(std::string_view sha256, std::span<const std::byte> content);

  /// Path on the device of a file here; sent only if the device lacks it, in parts of 16 MiB. A
  /// device that shares our files gets the path itself. Errors: kNotFound; those of put().
  Result<std::string> push_file(const std::filesystem::path& path, std::string_view sha256);

  /// Path of a folder on the device that has these files under these names; sends what the device
  /// lacks. Also makes the folder where files are shared. Errors: kInvalidArgument for paths that
  /// fit no tree (wire::check_tree()); those of push_file().
  Result<std::string> push_tree(const std::vector<TreeSource>& files);

  Result<Conditions> conditions();

  /// The machine that the agent runs on.
  Result<Environment> environment();

  /// Keeps others off the device until the agent ends, unless the reply says who has it. `holder`:
  /// tells them. Errors: kUnavailable where the agent's folder cannot be used for that.
  Result<wire::LockReply> lock(std::string_view holder);

  /// Changes settings of a device that was locked, until the agent ends; they are taken back then.
  /// Errors: kUnavailable, kUnsupported where it cannot be done, with what to do.
  Result<wire::PolicyReply> apply_policy(const wire::Policy& policy);

  /// Space in the folder of the agent.
  Result<wire::Space> space();

  /// Removes files that the agent keeps until at most `keep_bytes` are left, those first that were
  /// not used for longest, and none that another living agent was asked for. What this one was
  /// asked for must be asked for again. Returns the bytes removed.
  Result<std::int64_t> prune(std::int64_t keep_bytes);

  /// Description that the agent sent of itself.
  [[nodiscard]] const wire::Hello& hello() const { return hello_; }
  [[nodiscard]] const std::string& device() const { return device_; }

 private:
  AgentClient(AgentProcess process, std::string device, bool shares_files)
      : process_(std::move(process)),
        channel_(process_.read_fd(), process_.write_fd()),
        device_(std::move(device)),
        shares_files_(shares_files) {}

  void expect_heartbeats(const Options& options);
  /// Sends a request and waits for its answer.
  Result<wire::Frame> ask(wire::Frame request, std::int64_t timeout_ns, std::string_view doing);
  Result<wire::TreeReply> ask_for_tree(const wire::Tree& tree);
  Result<std::string> put_part(const wire::Put& part, std::vector<std::byte> content);
  Result<std::string> send_file(const std::filesystem::path& path, std::string_view sha256);
  Result<wire::Frame> receive_answer(std::uint32_t request, std::int64_t timeout_ns);
  /// Waits for the next byte, but no longer than until silence is to be told. True: it is.
  [[nodiscard]] bool is_silent() const;

  AgentProcess process_;
  wire::Channel channel_;
  wire::Hello hello_;
  std::string device_;
  bool shares_files_;
  std::uint32_t last_request_ = 0;
  int notice_ms_ = -1;  ///< Wait for a sign of life after which `on_silence_` is called.
  std::function<void()> on_silence_;
  int silence_ms_ = -1;       ///< Limit of a wait for a sign of life; -1: none.
  int send_silence_ms_ = -1;  ///< Limit of a wait until the agent reads on.
};

}  // namespace assay
