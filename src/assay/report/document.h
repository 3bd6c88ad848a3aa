#pragma once

#include <string>
#include <string_view>

#include "assay/record/summary.h"
#include "assay/report/json_lines.h"

namespace assay::report {

/// Raised when a field changes its meaning or goes; new fields do not raise it.
inline constexpr std::string_view kReportSchema = "assay/report/1";
inline constexpr std::string_view kCaseSchema = "assay/report-case/1";

/// The whole summary with the definitions of the metrics: {schema, run, environment, calibration,
/// baseline, trade_offs, comparisons, metrics, cases}, where a run without them has no calibration,
/// no trade_offs and no comparisons; the schema comes first and each case has a line of its own.
/// Always valid UTF-8.
std::string document_of(const RunSummary& summary);

/// All of it but the cases.
OrderedJson document_head(const RunSummary& summary);

}  // namespace assay::report
