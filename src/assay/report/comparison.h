#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/record/comparison.h"
#include "assay/report/text_table.h"

namespace assay::report {

/// Every metric with its interval; empty before the first look.
TextTable comparison_table(const Comparison& comparison);

/// Lines below the table: how many pairs in what time, what was replaced or never became
/// steady, the pairing, the looks, the confirmation and the canary.
std::vector<std::string> comparison_lines(const Comparison& comparison);

/// The answer, then every metric with its interval, the looks, the confirmation and the canary.
/// Lines are at most `width` columns wide.
std::string console_from_comparison(const Comparison& comparison, std::size_t width,
                                    bool has_colour);

/// Schema assay/comparison/1: all of the record.
Json document_from_comparison(const Comparison& comparison);

}  // namespace assay::report
