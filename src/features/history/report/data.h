#pragma once

#include "features/history/history.h"

#include "assay/report/json_lines.h"

/// Parts of a history as JSON, for the document and for the page.
namespace assay::report {

/// One series without its points: {name, metric, unit, better, segments, steps, nomination, drift,
/// silence, outliers, …}; only what lies among the shown commits.
OrderedJson json_from_series(const history::History& history, const history::AnalyzedSeries& one);

/// {schema, source, rule, incidents}
OrderedJson json_without_series(const history::History& history);

}  // namespace assay::report
