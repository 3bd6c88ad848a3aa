#pragma once

#include "assay/record/case.h"
#include "assay/record/comparison.h"

namespace assay {

/// True if two cases differ by the names and places of their files at most.
bool are_identical(const Case& a, const Case& b);

/// The answer for two such cases, of which nothing was measured.
Comparison identical_comparison(const Case& a, const Case& b);

}  // namespace assay
