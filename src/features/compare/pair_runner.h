#pragma once

#include "features/compare/comparison_request.h"
#include "features/compare/side_runner.h"

#include <string>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/record/comparison.h"
#include "assay/record/launch.h"

namespace assay {

/// Launches the pairs of a comparison, a block of two at a time.
class PairRunner {
 public:
  /// All arguments but `sides` outlive it. `comparison` gives the id and the plan.
  PairRunner(const ComparisonRequest& request, const CampaignTools& tools,
             const Comparison& comparison, SideRunner sides);

  /// The launches of the next block, in the order of pair_order.h, all stored. Ends early with a
  /// launch that did not complete as the last one. Errors: those of the store and the device;
  /// kTimeout: asked to stop.
  ///
  /// Interleaved: one after the other, the launches of a pair on the same cores, a canary beside.
  /// Duet: the two of a pair at once, on two sets of cores that the next pair swaps; no canary,
  /// which would need a third set.
  Result<std::vector<Launch>> run_block(PairPhase phase, Pairing pairing);

  SideRunner& sides() { return sides_; }

  /// Threads of a launch: the most that either side asks for; 0 where that is not known.
  [[nodiscard]] int threads() const;

 private:
  Result<std::vector<Launch>> run_interleaved(PairPhase phase, int block);
  Result<std::vector<Launch>> run_duets(PairPhase phase, int block);
  [[nodiscard]] std::string label_at(const PairPlace& place) const;
  void tell_finished(const Launch& launch) const;

  const ComparisonRequest& request_;
  const CampaignTools& tools_;
  const Comparison& comparison_;
  SideRunner sides_;
  int next_block_ = 0;
};

/// True if two launches fit on the machine at once, each on a set of cores.
bool has_cores_for_duet(int threads, int cores);

}  // namespace assay
