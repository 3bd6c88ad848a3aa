#pragma once

#include "features/history/history.h"

#include <cstdint>
#include <ostream>
#include <string>

#include "assay/base/result.h"
#include "assay/report/writer.h"

/// A history in the forms that people and programs read. They only format.
namespace assay::report {

/// Each series with a sparkline, its steps and what its newest points say; then the commits that
/// several series agree on. Of more than ten series only those that say something.
std::string console_from_history(const history::History& history, const ReportStyle& style);

/// Explains a commit in each series: its point, its level, the step that may be its fault,
/// and how far the evidence goes. `position`: of the commit.
std::string explanation_of_commit(const history::History& history, std::int64_t position,
                                  const ReportStyle& style);

/// "assay/history/1", with all points of the shown commits. Changes are ratios (0.05 is 5 % more)
/// where the series has ratios.
std::string json_from_history(const history::History& history);

/// A row for each step, nomination, drift, silence and outlier.
std::string csv_from_history(const history::History& history);

/// One page: series with segments, steps and incidents. Of long series not every point is drawn,
/// which the page says. Errors: kUnavailable when the stream refuses.
Status history_to_html(const history::History& history, const ReportStyle& style,
                       std::ostream& out);

}  // namespace assay::report
