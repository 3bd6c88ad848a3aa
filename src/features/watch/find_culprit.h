#pragma once

#include "features/watch/verify.h"
#include "features/watch/watch_view.h"

#include <cstddef>
#include <functional>

#include "assay/base/result.h"
#include "assay/record/incident.h"

namespace assay::watch {

/// Effort of a search, estimated after its ends were measured.
struct SearchForecast {
  std::size_t revisions = 0;
  double pairs = 0;         ///< Mean of simulated searches, with those of the confirmation.
  double most_pairs = 0;    ///< Nine of ten searches take fewer.
  double pair_seconds = 0;  ///< Duration of a pair of the ends.
  double seconds = 0;       ///< Time for pairs and builds.
};

/// Rules by which a search spends its pairs.
struct SearchPlan {
  int calibration_pairs = 20;  ///< Pairs of both ends, to learn change and spread.
  int batch = 5;               ///< Pairs of a revision with the good end at a time.
  int most_pairs = 600;
  double enough = 0.95;  ///< Probability at which suspects are confirmed by a comparison.
  int most_culprits = 3;
  /// From so many revisions on, operators of the ends' profiles say which are likelier.
  std::size_t least_for_profile = 8;
  std::function<void(const SearchForecast&)> tell = {};  ///< Before the first search.
};

/// Finds the revision that made a confirmed incident: a Bayesian search over its range in batches
/// of pairs against the good end (assay/compare/bisection_search.h), then a comparison of the
/// suspect with the revision before it. Of a metric that repeats exactly one launch is certain, so
/// the search is a plain bisection. Revisions that touch no file of the engine cannot be the
/// culprit, those that touch files of a slow operator are three times as likely, those that cannot
/// be built are skipped, and those of equal bytes are one. Measurements that an earlier search for
/// the incident left in the store count. Where the culprit made only a part of the change, the rest
/// is searched for on both sides of it.
///
/// Stores and returns the incident: with its culprit, the one with the largest change, what
/// explains it, and under "culprits" all of them with their shares, where there are several; or,
/// where builds tell no less than several revisions apart or the pairs ran out, with the suspects
/// in its attribution. Errors: those of the runner and of the store.
Result<Incident> find_culprit(const WatchView& view, Incident incident, const IncidentTools& tools,
                              const SearchPlan& plan = {});

}  // namespace assay::watch
