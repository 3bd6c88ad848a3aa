#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/campaign/device_descriptions.h"
#include "assay/campaign/device_engines.h"
#include "assay/campaign/launch_target.h"
#include "assay/campaign/remote_target.h"
#include "assay/device/transport.h"
#include "assay/engine/installed_builds.h"
#include "assay/record/launch.h"
#include "assay/record/run.h"
#include "assay/remote/device_policy.h"
#include "assay/supervise/agent_client.h"

namespace assay {

/// A device behind ssh or adb as campaigns use it: its machine, the engines that can run there, and
/// connections to it. Not thread-safe.
class RemoteDevice {
 public:
  struct Opening {
    std::filesystem::path home;  ///< Folder of the engines that are registered here.
    bool asks_anew = false;      ///< Engines describe themselves, also if they did before.
    /// Takes the device from other commands of this machine; empty: nothing does.
    std::function<Result<std::shared_ptr<void>>()> lock_host = {};
  };

  /// Connects, describes the machine and the engines. Engines that are not known are started there,
  /// while nobody else has the device. Errors: those of AgentClient::connect(); kUnavailable,
  /// naming who has it, where engines must be started; kCrashed where it is lost meanwhile.
  static Result<std::unique_ptr<RemoteDevice>> open(std::unique_ptr<Transport> transport,
                                                    const Opening& opening);

  [[nodiscard]] const Environment& environment() const { return environment_; }
  [[nodiscard]] const std::string& triple() const { return triple_; }
  [[nodiscard]] const InstalledBuilds& installed() const { return installed_; }
  [[nodiscard]] const Conditions& conditions() const { return conditions_; }  ///< When it opened.

  /// Brings the engines there, so that no run has to wait for it. Errors: those of push_tree().
  Status bring_engines();

  /// The command line there of an engine's runner, "executorch" or "executorch@1.5.1". Errors:
  /// those of get_build() and push_tree().
  Result<std::vector<std::string>> bring_runner(const std::string& engine);

  /// Brings files there, under their names, in one folder; its path. Errors: those of push_tree().
  Result<std::string> bring_files(const std::vector<std::filesystem::path>& files);

  /// The connection that no target has taken; made if there is none. Errors: those of
  /// AgentClient::connect().
  Result<AgentClient*> agent();

  /// A target that owns the device: no other agent has it until the target is gone. A device that
  /// went away is waited for, as long as its policy and the options say; it may start anew.
  /// The agent of a connection that broke may live on for a while, and is waited for, too. The
  /// policy is put in force; its wipe and its reboot before a run come with the first target. The
  /// target must not outlive this. Errors: those of AgentClient::connect(); kUnavailable, naming
  /// who has the device; those of AgentClient::apply_policy() and Transport::reboot(); kUnavailable
  /// where it does not come back from that.
  Result<std::unique_ptr<LaunchTarget>> connect(const RemoteTarget::Options& options);

  /// Empties Assay's folder there, where the policy says so after a run.
  ~RemoteDevice();
  RemoteDevice(const RemoteDevice&) = delete;
  RemoteDevice& operator=(const RemoteDevice&) = delete;

 private:
  explicit RemoteDevice(std::unique_ptr<Transport> transport);
  Result<AgentClient> connect_agent();
  Result<AgentClient> take_agent(const RemoteTarget::Options& options);
  /// Connects and locks the device.
  Result<AgentClient> take_device(const RemoteTarget::Options& options);
  /// Does what the policy asks for before a run; the device is locked before and after it.
  Result<AgentClient> begin_run(AgentClient agent, const RemoteTarget::Options& options);
  Result<AgentClient> start_anew(AgentClient agent, const RemoteTarget::Options& options);
  Status wait_for_start(const RemoteTarget::Options& options);
  Status put_in_force(AgentClient& agent, const DevicePolicy& policy);
  void note_boot(const AgentClient& agent);
  /// Asks the engines; one that does not start counts as missing. Errors: the agent was lost.
  Status describe_engines(AgentClient agent, const Opening& opening);
  Status ask_engines(AgentClient& agent, const Opening& opening,
                     const DeviceDescriptions& descriptions, std::vector<DeviceEngine>& engines);

  std::unique_ptr<Transport> transport_;
  std::string holder_;                ///< Names this object to those who want the device.
  std::optional<AgentClient> agent_;  ///< A connection, until a target takes it.
  std::string triple_;
  std::string boot_id_;     ///< Boot of the device at the last connection.
  bool has_begun_ = false;  ///< A target was connected.
  bool wipes_at_end_ = false;
  Environment environment_;
  Conditions conditions_;
  InstalledBuilds installed_;
  EngineBundles bundles_;
};

}  // namespace assay
