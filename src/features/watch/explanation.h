#pragma once

#include "features/watch/revision_runner.h"

#include "assay/base/json.h"
#include "assay/record/summary.h"

namespace assay::watch {

/// The rows of one case on the two builds of a pair.
struct PairOfRows {
  const CaseSummary* before = nullptr;  ///< Null: the summary has none.
  const CaseSummary* after = nullptr;
};

/// The result refers to `summary`.
PairOfRows find_rows(const RunSummary& summary, const BuildPair& pair);

/// Difference of the profiles as RevisionRunner::explain tells it; an empty object where a build
/// has no profile.
Json explain_by_operators(const PairOfRows& rows);

/// Difference of the counts as RevisionRunner::count_instructions tells it.
Json explain_by_functions(const PairOfRows& rows);

}  // namespace assay::watch
