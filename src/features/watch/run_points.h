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
  std::string incident = {};  ///< Incident that the points serve; empty: the history.
};

/// The largest difference of the outputs from those of the reference. Both its values and its
/// offsets are distances to a reference.
inline constexpr std::string_view kOutputsMetric = "outputs_max_abs_error";

/// The least change of a metric that repeats exactly: a rounding error is smaller.
inline constexpr double kExactLeastEffect = 1e-9;

/// 1 for a case that fails or cannot run, and else 0.
inline constexpr std::string_view kFailsMetric = "fails";

/// True if the metric is an error of outputs, or says how well they agree with a reference.
bool is_error_of_outputs(std::string_view metric);

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
/// A metric that every launch has (times) is paired launch by launch, by the number of the launch:
/// its offset is the median of the pairs' offsets, with its exact interval from six pairs on. A
/// pair of which one launch lacks the metric, or has a value without a logarithm where offsets are
/// log ratios, is left out. Any other offset is that of the two estimates; metrics that repeat
/// exactly (sizes, delegation, "fails", and errors of outputs that are the same in each execution)
/// have an interval of no width. A metric that one of the two builds lacks has no point. Errors:
/// the store's.
Result<std::vector<SeriesPoint>> points_from_run(ResultStore& store, const Run& run,
                                                 const Sitting& sitting);

/// The offsets of one case and metric, one for each pair of launches as in points_from_run(), all
/// finite. Empty where one of the two has none. Errors: the store's.
Result<std::vector<double>> pair_offsets(ResultStore& store, const Run& run, const Sitting& sitting,
                                         const std::string& case_key, const std::string& metric);

}  // namespace assay::watch
