#pragma once

#include <cstddef>
#include <string>

#include "assay/base/json.h"
#include "assay/record/comparison.h"

namespace assay::report {

/// The answer, then every metric with its interval, the looks, the confirmation and the canary.
/// Lines are at most `width` columns wide.
std::string console_from_comparison(const Comparison& comparison, std::size_t width,
                                    bool has_colour);

/// Schema assay/comparison/1: all of the record.
Json document_from_comparison(const Comparison& comparison);

}  // namespace assay::report
