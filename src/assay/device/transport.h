#pragma once

#include <string>

#include "assay/base/result.h"
#include "assay/device/agent_process.h"

namespace assay {

/// The way to a device: starts an agent there. Not thread-safe.
class Transport {
 public:
  virtual ~Transport() = default;

  /// Errors: kUnavailable, telling how to install or reach the agent.
  virtual Result<AgentProcess> start_agent() = 0;

  /// The device as people write it: "local", "ssh:lab3".
  [[nodiscard]] virtual std::string describe() const = 0;

  /// Starts the device anew. Returns before it is gone. Errors: kUnsupported where that is not ours
  /// to do; kUnavailable where it is not permitted.
  [[nodiscard]] virtual Status reboot() const {
    return fail(ErrorCode::kUnsupported, describe() + " is not started anew from here");
  }

  /// Removes all that Assay put there. Errors: kUnsupported where nothing is put; kUnavailable.
  [[nodiscard]] virtual Status clear() const {
    return fail(ErrorCode::kUnsupported, describe() + " has no folder of Assay's agent");
  }

  /// True if paths here are paths there, so that nothing needs to be sent.
  [[nodiscard]] virtual bool shares_files() const = 0;
};

}  // namespace assay
