#include "assay/summary/comparisons.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/record/axes.h"
#include "assay/record/comparison.h"
#include "assay/record/launch.h"
#include "assay/record/summary.h"
#include "assay/summary/case_rows.h"
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

/// True if a launch belongs to a pair that is shown.
bool is_counted(const Launch& launch, const PairPlace& place, const std::string& comparison) {
  return launch.outcome == Outcome::kCompleted && place.comparison == comparison &&
         place.side != Side::kCanary && place.phase != PairPhase::kPilot;
}

std::vector<PairPoint> points_of(const Comparison& comparison, const AttemptLaunches& launches) {
  std::map<int, HalfPair> pairs;
  for (const auto& [attempt, rows] : launches) {
    for (const auto& launch : rows) {
      const auto& place = launch.place;
      if (place && is_counted(launch, *place, comparison.id)) {
        add_launch(launch, *place, comparison, pairs);
      }
    }
  }
  std::vector<PairPoint> points;
  for (auto& [number, pair] : pairs) {
    if (pair.a && pair.b) {
      pair.point.a = *pair.a;
      pair.point.b = *pair.b;
      points.push_back(pair.point);
    }
  }
  return points;
}

}  // namespace

std::vector<ComparisonSummary> summarize_comparisons(const std::vector<Comparison>& comparisons,
                                                     const AttemptLaunches& launches) {
  std::vector<ComparisonSummary> summaries;
  summaries.reserve(comparisons.size());
  for (const auto& comparison : comparisons) {
    summaries.push_back({.comparison = comparison, .pairs = points_of(comparison, launches)});
  }
  return summaries;
}

}  // namespace assay
