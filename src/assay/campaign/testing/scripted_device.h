#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/campaign/launch.h"
#include "assay/campaign/launch_target.h"

namespace assay {

/// A device for tests: a script answers its launches, one at a time. Outlives its targets, which
/// may run in threads of their own.
class ScriptedDevice {
 public:
  /// `launch`: how many launches the device was asked for before, over all targets. The error
  /// kCrashed loses the target; with another one it goes on.
  using Script = std::function<Result<LaunchResult>(const LaunchRequest& request, int launch)>;

  explicit ScriptedDevice(Script script) : script_(std::move(script)) {}

  [[nodiscard]] ConnectTarget connector();

  std::vector<LaunchRequest> requests;  ///< Every one, in order, also of lost launches.
  int connections = 0;
  bool has_queue = false;
  bool has_link = false;
  std::vector<std::vector<LaunchRequest>> expected;  ///< The lists that LaunchTarget::expect got.

 private:
  friend class ScriptedTarget;

  Result<LaunchResult> answer(const LaunchRequest& request);

  Script script_;
  std::mutex mutex_;
};

/// A timing launch that completed: as many steady iterations as the plan asks for, each of this
/// time, give or take a part in a thousand by their index.
LaunchResult timed_result(const LaunchRequest& request, std::int64_t execute_ns);

/// An evaluation launch of one sample with one float32 output.
LaunchResult evaluated_result(std::span<const float> output);

/// A launch of any other pass that completed.
LaunchResult completed_result();

}  // namespace assay
