#pragma once

#include <string>
#include <string_view>

#include "assay/base/result.h"
#include "assay/record/summary.h"
#include "assay/store/result_store.h"

namespace assay {

struct SummaryOptions {
  std::string baseline;           ///< Recipe that ratios refer to; empty: none.
  bool has_launch_series = true;  ///< Keep every iteration's time, for pictures.
  bool has_spans = false;         ///< Keep every profiled event's time, for pictures.
};

/// Derives everything that a report shows of a run from what the store holds: the one place where
/// raw samples become aggregates. Changes nothing, and claims the run, so that it stays while it is
/// read. Errors: the store's.
Result<RunSummary> summarize_run(ResultStore& store, const Run& run, const SummaryOptions& options);

}  // namespace assay
