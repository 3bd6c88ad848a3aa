#pragma once

#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/history/series.h"

namespace assay::history {

/// Reads series from CSV (RFC 4180) with a head. Columns in any order: `commit` and `value` (above
/// 0), and as wanted `time` (of the commit: seconds since 1970, or 2026-01-31,
/// 2026-01-31T09:05:00Z, 2026-01-31 09:05:00 +0200), `series`, `metric`, `unit`, `environment`,
/// `low` and `high` (interval of the value). Others are ignored, unless their name is nearly one of
/// these.
///
/// A row is a point of the series that `series` and `metric` name. Commits are in the order of
/// their times, and of the file where those are equal or there are none; several values of a series
/// for a commit in one environment become their median. A series whose environments come back after
/// one another is divided into one for each. Offsets are to the first value of the series.
/// `origin`: the name of the file, for messages and for series without a name. Errors:
/// kInvalidArgument, with the line and what is expected there.
Result<std::vector<Series>> series_from_csv(std::string_view text, std::string_view origin);

}  // namespace assay::history
