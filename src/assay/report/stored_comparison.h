#pragma once

#include <cstddef>
#include <string>

#include "assay/base/json.h"
#include "assay/record/stored_comparison.h"

namespace assay::report {

/// Lists possible changes between two runs, case by case, and how weak the evidence is. Lines are
/// at most `width` columns wide.
std::string console_from_stored(const StoredComparison& comparison, std::size_t width,
                                bool has_colour);

/// Schema assay/stored-comparison/1: all of the record.
Json document_from_stored(const StoredComparison& comparison);

}  // namespace assay::report
