#include "assay/campaign/agent_target.h"

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <utility>

#include "assay/base/result.h"
#include "assay/campaign/hidden_interpreter.h"
#include "assay/campaign/launch.h"
#include "assay/campaign/launch_paths.h"
#include "assay/campaign/launch_target.h"
#include "assay/campaign/metered_spawn.h"
#include "assay/device/transport.h"
#include "assay/record/axes.h"
#include "assay/record/launch.h"
#include "assay/record/sandbox.h"
#include "assay/supervise/agent_client.h"

namespace assay {

namespace {

/// Adds to the failure of a command in the sandbox what the sandbox hides from it.
void explain_failure(const LaunchRequest& request, Launch& launch) {
  const char* const home = std::getenv("HOME");
  if (launch.outcome == Outcome::kCompleted || request.sandbox == SandboxMode::kOff ||
      home == nullptr) {
    return;
  }
  const auto program = std::filesystem::path(request.artifact.folder) / request.artifact.entry;
  const auto hint =
      hint_of_hidden_interpreter(program, sandbox_request_from(request).readable, home);
  launch.text += hint.empty() ? "" : "; " + hint;
  const auto closed = hint_of_closed_paths(request);
  launch.text += closed.empty() ? "" : "; " + closed;
}

}  // namespace

AgentTarget::AgentTarget(AgentClient agent) : agent_(std::move(agent)) {}

Result<LaunchResult> AgentTarget::run(const LaunchRequest& request) {
  tell_named_paths(request);
  ASSAY_ASSIGN_OR_RETURN(const auto result,
                         spawn_with_meter(agent_, spawn_from_launch(request), request.meter));
  auto answered = result_from_answer(result, request);
  explain_failure(request, answered.launch);
  return answered;
}

bool AgentTarget::is_alive() { return agent_.conditions().has_value(); }

Result<std::unique_ptr<LaunchTarget>> connect_agent_target(Transport& transport) {
  ASSAY_ASSIGN_OR_RETURN(auto agent, AgentClient::connect(transport));
  return std::make_unique<AgentTarget>(std::move(agent));
}

}  // namespace assay
