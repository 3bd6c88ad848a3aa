#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/record/comparison.h"

namespace assay {

/// How two cases are compared; the reasons for the numbers are in docs/measuring.md.
struct ComparePlan {
  std::string metric = "steady_floor_ns";  ///< The primary one, which alone decides.
  double gate_ratio = 0.02;                ///< The least change that matters.
  std::vector<int> looks = {10, 20, 40, 80};
  std::vector<double> alpha = {0.002, 0.008, 0.015, 0.025};  ///< Spent at each look.
  int confirmation_pairs = 20;
  double confirmation_alpha = 0.01;  ///< One-sided: the sign is known.
  std::int64_t budget_ns = 0;  ///< The pairs under way when it ends are the last look; 0: none.
  bool has_canary = true;
  bool is_pinned = true;  ///< Both launches of a pair on the same cores, where threads < cores.
};

/// Launches pairs of B against A, the request's two cases, until a planned look decides or the plan
/// ends; a change is then looked for again on fresh pairs. Every launch is stored as it ends, the
/// comparison with each look. A is `request.cases[0]`.
///
/// The answer is inconclusive when either side fails, when the canary differs from A, or when a
/// change was not found again; its text says so. Errors: what stops the whole (store, device,
/// toolchain, an artifact that cannot be made); kTimeout: asked to stop, what was measured is kept.
Result<Comparison> run_comparison(const CampaignRequest& request, const ComparePlan& plan,
                                  const CampaignTools& tools);

}  // namespace assay
