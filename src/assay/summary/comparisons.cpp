#include "assay/summary/comparisons.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/record/comparison.h"
#include "assay/record/launch.h"
#include "assay/record/run.h"
#include "assay/record/summary.h"
#include "assay/store/result_store.h"
#include "assay/summary/disturbance.h"
#include "assay/summary/reduction.h"

namespace assay {
namespace {

/// A pair as far as its launches are known.
struct HalfPair {
  PairPoint point;
  std::optional<double> a;
  std::optional<double> b;
};

void add_launch(const Launch& launch, const PairPlace& place, const Comparison& comparison,
                std::map<int, HalfPair>& pairs) {
  auto& pair = pairs[place.pair];
  pair.point.pair = place.pair;
  pair.point.phase = place.phase;
  pair.point.is_replaced =
      std::ranges::find(comparison.replaced_pairs, place.pair) != comparison.replaced_pairs.end();
  pair.point.is_disturbed = pair.point.is_disturbed || !find_disturbances(launch).empty();
  const auto reduced = reduce_launch(launch);
  if (const auto value = reduced.find(comparison.plan.metric); value != reduced.end()) {
    (place.side == Side::kA ? pair.a : pair.b) = value->second;
  }
}

bool is_counted(const PairPlace& place, const std::string& comparison) {
  return place.comparison == comparison && place.side != Side::kCanary &&
         place.phase != PairPhase::kPilot;
}

}  // namespace

Result<std::vector<ComparisonSummary>> summarize_comparisons(ResultStore& store, const Run& run,
                                                             const std::vector<Attempt>& attempts) {
  ASSAY_ASSIGN_OR_RETURN(const auto comparisons, store.comparisons_of_run(run.id));
  std::vector<ComparisonSummary> summaries;
  for (const auto& comparison : comparisons) {
    std::map<int, HalfPair> pairs;
    for (const auto& attempt : attempts) {
      ASSAY_ASSIGN_OR_RETURN(const auto launches, store.launches_of_attempt(attempt.id));
      for (const auto& launch : launches) {
        const bool is_completed = launch.outcome == Outcome::kCompleted;
        if (const auto& place = launch.place;
            is_completed && place && is_counted(*place, comparison.id)) {
          add_launch(launch, *place, comparison, pairs);
        }
      }
    }
    auto& summary =
        summaries.emplace_back(ComparisonSummary{.comparison = comparison, .pairs = {}});
    for (auto& [number, pair] : pairs) {
      if (pair.a && pair.b) {
        pair.point.a = *pair.a;
        pair.point.b = *pair.b;
        summary.pairs.push_back(pair.point);
      }
    }
  }
  return summaries;
}

}  // namespace assay
