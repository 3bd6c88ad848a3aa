#include "assay/campaign/expected_duration.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/base/result.h"
#include "assay/campaign/run_context.h"
#include "assay/campaign/stopping.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/comparison.h"
#include "assay/store/result_store.h"

namespace assay {
namespace {

/// The time of one attempt with as many launches as the attempts had then, within the bounds of
/// this time.
std::int64_t time_of_launches(const PastLaunches& past, int least, int most) {
  if (past.count == 0) {
    return 0;
  }
  const auto launches = std::clamp(past.count / past.attempts, least, std::max(least, most));
  return past.wall_ns / past.count * launches;
}

}  // namespace

std::int64_t expected_timing_ns(const PastLaunches& past, const LaunchPlan& plan) {
  const bool is_open = plan.interval_ratio > 0;
  const auto all = time_of_launches(past, plan.least, is_open ? plan.most : plan.least);
  const auto least = time_of_launches(past, plan.least, plan.least);
  return plan.budget_ns > 0 ? std::max(least, std::min(all, plan.budget_ns)) : all;
}

Result<std::int64_t> last_duration_ns(ResultStore& store, const Case& cell,
                                      std::span<const Pass> passes) {
  const auto key = case_key(cell);
  std::int64_t sum_ns = 0;
  for (const auto pass : passes) {
    ASSAY_ASSIGN_OR_RETURN(const auto past, store.past_launches(key, pass));
    sum_ns += past.wall_ns / std::max(past.attempts, 1);
  }
  return sum_ns;
}

Result<std::int64_t> expected_duration_ns(ResultStore& store, const Case& cell,
                                          const CampaignSettings& settings) {
  auto passes = settings.passes;
  const bool is_timed = std::erase(passes, Pass::kTiming) > 0;
  ASSAY_ASSIGN_OR_RETURN(const auto other_ns, last_duration_ns(store, cell, passes));
  if (!is_timed) {
    return other_ns;
  }
  ASSAY_ASSIGN_OR_RETURN(const auto past, store.past_launches(case_key(cell), Pass::kTiming));
  return other_ns + expected_timing_ns(past, settings.launches);
}

Result<std::int64_t> expected_comparison_ns(ResultStore& store, std::span<const Case> sides,
                                            const ComparisonPlan& plan) {
  std::int64_t sum_ns = 0;
  for (const auto& side : sides) {
    ASSAY_ASSIGN_OR_RETURN(const auto past, store.past_launches(case_key(side), Pass::kTiming));
    if (past.count == 0) {
      return 0;
    }
    // The canary is launched from A's files with each pair, so of A there are twice as many.
    const int most = 2 * (plan.looks.back() + plan.confirmation_pairs);
    sum_ns += time_of_launches(past, plan.looks.front(), most);
  }
  return sum_ns;
}

}  // namespace assay
