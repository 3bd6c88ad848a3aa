#pragma once

#include "features/compare/comparison_request.h"

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/launch.h"
#include "assay/campaign/launcher.h"
#include "assay/campaign/preparation.h"
#include "assay/record/comparison.h"
#include "assay/record/launch.h"
#include "assay/record/run.h"

namespace assay {

/// Errors: kUnavailable for a side that cannot be launched, saying why.
Status check_has_program(const PreparedCase& prepared);

/// Runs and stores the launches of a comparison's sides.
class SideRunner {
 public:
  /// Prepares both cases, copies A's files for the canary, and stores the attempts; a resumed
  /// request goes on with those of its run. Errors: as prepare_cases; kUnavailable when a side has
  /// no program, saying why.
  static Result<SideRunner> prepare(const ComparisonRequest& request, const CampaignTools& tools,
                                    bool has_canary);

  /// Launches of the run so far, in order.
  [[nodiscard]] const std::vector<Launch>& earlier() const { return earlier_; }

  /// Steady iterations of the launches to come.
  void set_iterations(int iterations);

  /// One process, stored. A launch that failed is no error.
  Result<Launch> launch(const PairPlace& place);

  /// Two processes at once, both stored.
  Result<std::array<Launch, 2>> launch_together(const std::array<PairPlace, 2>& places);

  /// Ends both attempts with the outcome of their last launch.
  Status finish();

 private:
  SideRunner(const ComparisonRequest& request, const CampaignTools& tools, TemporaryFolder files)
      : request_(request),
        tools_(tools),
        files_(std::move(files)),
        launchers_{Launcher(tools, request.context.device),
                   Launcher(tools, request.context.device)} {}

  Status add_side(Side side, const PreparedCase& prepared);
  Status add_canary();
  /// The attempt of a side: the run's own if it is resumed.
  Result<Attempt> attempt_of(const PreparedCase& prepared);
  LaunchRequest request_at(const PairPlace& place);
  Result<Launch> keep(const PairPlace& place, Launch launch);

  /// A side's launches; the canary's belong to A's attempt.
  struct Place {
    LaunchRequest request;
    std::string attempt;
  };

  const ComparisonRequest& request_;
  const CampaignTools& tools_;
  std::map<Side, Place> places_;
  std::map<std::string, Attempt> attempts_;  ///< Keyed by id.
  std::map<std::string, int> counts_;        ///< Launches of each attempt.
  std::vector<Launch> earlier_;
  TemporaryFolder files_;  ///< The canary's copies; jobs of programs beside.
  std::array<Launcher, 2> launchers_;
  int launched_ = 0;
};

}  // namespace assay
