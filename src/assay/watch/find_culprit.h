#pragma once

#include "assay/base/result.h"
#include "assay/record/incident.h"
#include "assay/watch/verify.h"
#include "assay/watch/watch_view.h"

namespace assay::watch {

/// How a search spends its pairs.
struct SearchPlan {
  int calibration_pairs = 20;  ///< Pairs of both ends, to learn change and spread.
  int batch = 5;               ///< Pairs of a revision with the good end at a time.
  int most_pairs = 600;
  double enough = 0.95;  ///< Probability at which suspects are confirmed by a comparison.
};

/// Finds the revision that made a confirmed incident: a Bayesian search over its range in batches
/// of pairs against the good end (assay/compare/bisection_search.h), then a comparison of the
/// suspect with the revision before it. Of a metric that repeats exactly one launch is certain, so
/// the search is a plain bisection. Revisions that touch no file of the engine cannot be the
/// culprit, those that cannot be built are skipped, and those of equal bytes are one. Batches that
/// an earlier search for the incident left in the store count.
///
/// Stores and returns the incident: with its culprit and what explains it; or, where builds tell no
/// less than several revisions apart or the pairs ran out, with the suspects in its attribution.
/// Errors: those of the runner and of the store.
Result<Incident> find_culprit(const WatchView& view, Incident incident, const IncidentTools& tools,
                              const SearchPlan& plan = {});

}  // namespace assay::watch
