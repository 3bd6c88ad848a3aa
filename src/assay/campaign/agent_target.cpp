#include "assay/campaign/agent_target.h"

#include <memory>
#include <utility>

#include "assay/base/result.h"
#include "assay/campaign/launch.h"
#include "assay/campaign/launch_target.h"
#include "assay/campaign/metered_spawn.h"
#include "assay/device/transport.h"
#include "assay/supervise/agent_client.h"

namespace assay {

AgentTarget::AgentTarget(AgentClient agent) : agent_(std::move(agent)) {}

Result<LaunchResult> AgentTarget::run(const LaunchRequest& request) {
  ASSAY_ASSIGN_OR_RETURN(const auto result,
                         spawn_with_meter(agent_, spawn_from_launch(request), request.meter));
  return result_from_answer(result, request);
}

bool AgentTarget::is_alive() { return agent_.conditions().has_value(); }

Result<std::unique_ptr<LaunchTarget>> connect_agent_target(Transport& transport) {
  ASSAY_ASSIGN_OR_RETURN(auto agent, AgentClient::connect(transport));
  return std::make_unique<AgentTarget>(std::move(agent));
}

}  // namespace assay
