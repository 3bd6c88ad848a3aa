#pragma once

#include <filesystem>
#include <set>
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
  std::string machine;           ///< "aarch64", of uname.
  std::string folder;            ///< Whole path of Assay's folder there.
  std::set<std::string> agents;  ///< Files of agents in it.
};

/// A device behind ssh or adb. Brings the agent there when it lacks the one of this build, by the
/// digest of its bytes, and starts it: its frames travel over the standard streams of ssh or adb.
class RemoteTransport final : public Transport {
 public:
  struct Options {
    DeviceAddress address;
    /// Assay's folder there. Empty: ~/.cache/assay-agent, and on a phone /data/local/tmp/assay.
    std::string folder;
  };

  explicit RemoteTransport(Options options)
      : options_(std::move(options)), shell_(options_.address) {}

  /// Errors: those of RemoteShell::run and find_device_program; kCorrupt where the agent did not
  /// arrive whole.
  Result<AgentProcess> start_agent() override;
  [[nodiscard]] std::string describe() const override { return options_.address.text(); }
  [[nodiscard]] bool shares_files() const override { return false; }

  /// Makes Assay's folder where it is missing. Errors: those of RemoteShell::run.
  [[nodiscard]] Result<DeviceFacts> ask_facts() const;

  /// A process here whose standard streams are those of a program there.
  [[nodiscard]] std::vector<std::string> argv_of(const std::vector<std::string>& words) const;

  /// Takes back settings that a killed agent has left, too. An agent that runs meanwhile loses its
  /// files. Errors: those of RemoteShell::run.
  [[nodiscard]] Status clear() const override;

  /// By `adb reboot`, or a command of the device's root or of a user who may run it by sudo.
  [[nodiscard]] Status reboot() const override { return shell_.reboot(); }

 private:
  Status push_agent(const std::filesystem::path& agent, const std::string& target) const;

  Options options_;
  RemoteShell shell_;
};

}  // namespace assay
