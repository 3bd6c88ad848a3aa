#pragma once

#include <optional>
#include <string>

#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/launch_order.h"
#include "assay/campaign/program_watch.h"
#include "assay/supervise/agent_client.h"

namespace assay {

/// Runs launches through an agent, and goes on with another one where it is lost: what a runner
/// does to its agent is that runner's failure and nobody else's.
class Launcher {
 public:
  /// `tools` outlives it; its connect_agent() is asked when the first launch comes.
  explicit Launcher(const CampaignTools& tools) : tools_(&tools) {}

  /// A launch whose agent is lost is made again with a new one. The second loss is a launch of the
  /// outcome crashed, `agent_lost`; what the agent itself refuses is a launch with the outcome of
  /// that error. A program that changed before the launch or during it makes it a harness_error,
  /// `program_changed`. Errors: those of connect_agent(); kTimeout when it is to stop; kUnavailable
  /// after several launches in a row that lost their agents, naming the last one.
  Result<LaunchYield> run(const LaunchOrder& order);

 private:
  Result<LaunchYield> run_with_agent(const LaunchOrder& order);
  Status check_losses() const;

  const CampaignTools* tools_;
  std::optional<AgentClient> agent_;
  ProgramWatch watch_;
  int losses_ = 0;         ///< Launches in a row that lost the agent for good.
  std::string last_loss_;  ///< Who was running, and what was said.
};

}  // namespace assay
