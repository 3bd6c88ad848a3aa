#pragma once

#include <memory>

#include "assay/base/result.h"
#include "assay/campaign/launch.h"
#include "assay/campaign/launch_target.h"
#include "assay/device/transport.h"
#include "assay/supervise/agent_client.h"

namespace assay {

/// Runs launches through an agent on the device.
class AgentTarget : public LaunchTarget {
 public:
  explicit AgentTarget(AgentClient agent);

  /// Errors: those of AgentClient::spawn().
  Result<LaunchResult> run(const LaunchRequest& request) override;
  bool is_alive() override;

 private:
  AgentClient agent_;
};

/// Starts an agent. Errors: those of AgentClient::connect().
Result<std::unique_ptr<LaunchTarget>> connect_agent_target(Transport& transport);

}  // namespace assay
