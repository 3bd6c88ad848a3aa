#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/file_digests.h"
#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/campaign/launch.h"
#include "assay/campaign/launch_target.h"
#include "assay/record/subject.h"
#include "assay/remote/device_bundle.h"
#include "assay/remote/device_gate.h"
#include "assay/remote/device_policy.h"
#include "assay/supervise/agent_client.h"

namespace assay {

/// Reason of a timed launch that was skipped because the device's gate stayed shut.
inline constexpr const char* kDeviceNotReady = "device_not_ready";

/// Bundles of the engines that run on a device, by reference: "executorch@1.5.1".
using EngineBundles = std::map<std::string, DeviceBundle>;

/// Runs launches through an agent on a device that does not share our files: brings the runner with
/// its bundle, the program, its inputs and libraries there, each once, and translates the paths.
class RemoteTarget final : public LaunchTarget {
 public:
  struct Options {
    DeviceGate gate;  ///< Waited for before a timed launch.
    DevicePolicy policy = {};
    std::function<bool()> keep_waiting;  ///< Asked while something is waited for.
  };

  /// `bundles` outlive it.
  RemoteTarget(AgentClient agent, const EngineBundles& bundles, Options options);

  /// Files of earlier launches are removed where there is no room. A program that then has none
  /// next to its runner is a launch with the outcome out_of_memory. A device that cannot keep the
  /// files of a launch counts as lost. Errors: also kExhausted where not even the runner has room,
  /// or nothing has; kTimeout when it is to stop while it waits, kUnsupported for an engine, or a
  /// wrapper of the runner, that the device does not have.
  Result<LaunchResult> run(const LaunchRequest& request) override;
  bool is_alive() override;
  [[nodiscard]] bool has_link() const override { return true; }

 private:
  /// Pauses until the last timed launch is long enough ago. Errors: kTimeout when it is to stop.
  Status cool_down();
  /// Waits until the device is ready to be timed; says why it is not, empty: it is. Errors: those
  /// of AgentClient::conditions().
  Result<std::string> wait_for_gate();
  /// The request with the device's paths.
  Result<LaunchRequest> bring(const LaunchRequest& request);
  Status bring_runner(const LaunchRequest& request, LaunchRequest& there);
  bool has_room_for_runner(const LaunchRequest& request);
  /// True if even a small file has room.
  bool has_any_room();
  Status bring_program(const LaunchRequest& request, LaunchRequest& there);
  /// Uploads what the program names, and writes the file with the paths there.
  Result<std::vector<TreeSource>> bring_places(const LaunchRequest& request, LaunchRequest& there);
  Status bring_companions(const LaunchRequest& request, LaunchRequest& there);
  Result<LaunchResult> run_there(const LaunchRequest& request, LaunchRequest there);
  /// The folder here for files that are made for the device.
  Result<std::filesystem::path> scratch();
  /// The path there of one file; its name stays.
  Result<std::string> bring_file(const std::filesystem::path& file);

  AgentClient agent_;
  bool is_broken_ = false;  ///< It could not keep the files of a launch.
  const EngineBundles& bundles_;
  Options options_;
  std::optional<std::int64_t> timed_until_ns_;  ///< End of the last timed launch.
  FileDigests digests_{{}};                     ///< Cached for this process only.
  std::optional<TemporaryFolder> scratch_;
};

/// A runner on a device.
struct PlacedRunner {
  std::vector<std::string> argv;  ///< Starts it; the last word is the runner.
  std::string folder;             ///< Path of its bundle there.
};

/// Brings a bundle to the device. Errors: those of push_tree().
Result<PlacedRunner> push_runner(AgentClient& agent, const DeviceBundle& bundle);

/// Starts the runner of a bundle on the device, to describe itself. Errors: kUnavailable, with what
/// it said.
Result<EngineBuild> describe_on_device(AgentClient& agent, const DeviceBundle& bundle);

}  // namespace assay
