#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/launch.h"
#include "assay/campaign/launch_target.h"
#include "assay/campaign/program_watch.h"

namespace assay {

/// Runs launches on a target and connects anew when it is lost: what a runner does to its target is
/// a failure of that runner alone.
class Launcher {
 public:
  /// `tools` outlives it; its connect_target() is called when the first launch comes. `device`: its
  /// name, for people.
  Launcher(const CampaignTools& tools, std::string device)
      : tools_(&tools), device_(std::move(device)) {}

  /// A launch whose target is lost is made again on a new one. The second loss is a launch with the
  /// outcome crashed, `agent_lost`; a refusal by the target is a launch with the outcome of that
  /// error. A program that changed before the launch or during it makes it a harness_error,
  /// `program_changed`. A loss of the device is reported at once, as a note, and once more if it
  /// does not come back. Errors: those of connect_target(); kTimeout when it is to stop;
  /// kUnavailable after several launches in a row that lost their targets, naming the last one.
  Result<LaunchResult> run(const LaunchRequest& request);

  /// Names the launches to come to a target that has a queue; others are not asked `upcoming`.
  /// Errors: those of connect_target() and of `upcoming`.
  Status expect(const std::function<Result<std::vector<LaunchRequest>>()>& upcoming);

  /// Checks the end of a run. Errors: kUnavailable where the latest launch lost its device, so that
  /// the run stays open and is resumed once the device is back.
  Status check_end() const;

  /// Gives the target up; a launch to come connects anew.
  void end_target() { target_.reset(); }

 private:
  Result<LaunchTarget*> target();
  Result<LaunchResult> run_on_target(const LaunchRequest& request);
  Result<LaunchTarget*> target_after(const Error& loss);
  void tell_loss(const Error& loss, int tries) const;
  Status check_losses() const;

  const CampaignTools* tools_;
  std::string device_;
  std::unique_ptr<LaunchTarget> target_;
  ProgramWatch watch_;
  int losses_ = 0;               ///< Launches in a row that lost the target.
  bool is_device_lost_ = false;  ///< The last of them lost a device rather than an agent here.
  std::string last_loss_;        ///< Who was running, and what was said.
};

}  // namespace assay
