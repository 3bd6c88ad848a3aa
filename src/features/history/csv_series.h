#pragma once

#include "features/history/series.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"

namespace assay::history {

/// Series of a CSV file, and what could not be read of it.
struct CsvSeries {
  std::vector<Series> series;
  std::size_t rows_without_point = 0;
  std::string first_reason;  ///< Line of the first of them, and why: "line 5: the value is empty".
};

/// Reads series from CSV (RFC 4180) with a head. Columns in any order: `commit` and `value`, and as
/// wanted `time` (of the commit: seconds since 1970, or 2026-01-31, 2026-01-31T09:05:00Z,
/// 2026-01-31 09:05:00 +0200), `series`, `metric`, `unit`, `better` (lower, higher or none),
/// `environment`, `low` and `high` (interval of the value). Others are ignored, unless their name
/// is nearly one of these.
///
/// A row is a point of the series that `series` and `metric` name; one that cannot be read is no
/// point and hides no other. Commits are in the order of their times, and of the file where those
/// are equal or there are none; several values of a series for a commit in one environment become
/// their median. A series whose environments come back after one another is divided into one for
/// each. Offsets are to the first value of the series: ln ratios where the metric or the unit
/// (assay/record/unit.h) is of a ratio scale, whose values are above 0; of an unknown unit where
/// all values are. A row in another unit of the same quantity is converted.
/// `origin`: the name of the file, for messages and for series without a name. Errors:
/// kInvalidArgument, with the line and what is expected there: a head that is wrong, a quote that
/// does not end, no row with a point.
Result<CsvSeries> series_from_csv(std::string_view text, std::string_view origin);

}  // namespace assay::history
