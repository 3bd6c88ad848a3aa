#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/device/agent_process.h"
#include "assay/device/transport.h"
#include "assay/remote/address.h"
#include "assay/remote/remote_shell.h"

namespace assay {

/// Facts of a device that one round trip tells before there is an agent.
struct DeviceFacts {
  std::string machine;                        ///< "aarch64", of uname.
  std::string folder;                         ///< Whole path of the agent's folder there.
  std::map<std::string, std::string> agents;  ///< Files of agents in it, with their bytes.
};

/// A device behind ssh or adb. Brings the agent there when it lacks the one of this build, by the
/// digest of its bytes, and starts it: its frames travel over the standard streams of ssh or adb.
class RemoteTransport final : public Transport {
 public:
  struct Options {
    DeviceAddress address;
    /// The agent's folder is made in this one, "assay-agent-UID": the user may have others there,
    /// and other users cannot use each other's. Empty: ~/.cache/assay-agent, and on a phone
    /// /data/local/tmp/assay-UID.
    std::string folder;
    /// How long clear() waits for who has the device: an agent whose host left ends a moment later.
    std::chrono::seconds clear_patience{10};
  };

  explicit RemoteTransport(Options options)
      : options_(std::move(options)), shell_(options_.address) {}

  /// Errors: those of RemoteShell::run and find_device_program; kCorrupt where the agent did not
  /// arrive whole.
  Result<AgentProcess> start_agent() override;
  [[nodiscard]] std::string describe() const override { return options_.address.text(); }
  [[nodiscard]] bool shares_files() const override { return false; }

  /// Makes the agent's folder where it is missing. Errors: those of RemoteShell::run; kUnsupported
  /// where the shell there prints something of its own, which would be in the way of frames.
  [[nodiscard]] Result<DeviceFacts> ask_facts() const;

  /// A process here whose standard streams are those of a program there.
  [[nodiscard]] std::vector<std::string> argv_of(const std::vector<std::string>& words) const;

  /// Takes back settings that a killed agent has left, too. Nobody else has the device meanwhile.
  /// Errors: those of RemoteShell::run; kUnavailable where somebody has it, or something stays.
  [[nodiscard]] Status clear() const override;

  /// By `adb reboot`, or a command of the device's root or of a user who may run it by sudo.
  [[nodiscard]] Status reboot() const override { return shell_.reboot(); }

 private:
  /// Called if none of the agents there can lock the device for that: they are damaged, or of a
  /// version that does not know how.
  [[nodiscard]] Status clear_by_own_agent() const;
  [[nodiscard]] Status status_of_clearing(const std::string& answer) const;
  /// The path there of the agent of this build, which is sent where it is missing.
  [[nodiscard]] Result<std::string> bring_agent() const;
  Status push_agent(const std::filesystem::path& agent, const std::string& target) const;

  Options options_;
  RemoteShell shell_;
};

}  // namespace assay
