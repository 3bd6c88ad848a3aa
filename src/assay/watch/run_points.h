#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/measured_series.h"
#include "assay/record/repository.h"
#include "assay/record/revision_build.h"
#include "assay/record/run.h"
#include "assay/store/result_store.h"

namespace assay::watch {

/// Builds that a run measures side by side: that of a revision and, mostly, its reference.
struct Sitting {
  Revision revision;
  RevisionBuild build;
  std::optional<RevisionBuild> reference;
  std::string incident = {};  ///< That it is made for; empty: for the history.
};

/// The largest difference of the outputs from those of the reference. Both its values and its
/// offsets are distances to a reference.
inline constexpr std::string_view kOutputsMetric = "outputs_max_abs_error";

/// A point with the series that it belongs to.
struct SeriesPoint {
  MeasuredSeries series;
  MeasuredPoint point;
};

/// The points of the sitting's revision: one for each case and metric that says which direction is
/// better; "fails", which is 1 for a case that fails or cannot run, and else 0; and
/// "outputs_max_abs_error", the largest difference of its outputs from those of the reference,
/// where the run evaluated them.
///
/// A metric that every launch has (times) is paired launch by launch: its offset is the median of
/// the pairs' log ratios, with its exact interval from six pairs on. Any other offset is that of
/// the two estimates; metrics that repeat exactly (sizes, delegation, accuracy, "fails") have an
/// interval of no width. A metric that one of the two builds lacks has no point. Errors: the
/// store's.
Result<std::vector<SeriesPoint>> points_from_run(ResultStore& store, const Run& run,
                                                 const Sitting& sitting);

/// The offsets of one case and metric, one for each pair of launches: ln(time of the revision /
/// time of the reference). Empty where one of the two has none. Errors: the store's.
Result<std::vector<double>> pair_offsets(ResultStore& store, const Run& run, const Sitting& sitting,
                                         const std::string& case_key, const std::string& metric);

}  // namespace assay::watch
