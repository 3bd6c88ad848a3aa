#pragma once

#include "assay/record/conformance.h"
#include "assay/record/summary.h"

namespace assay::report {

/// A run of several engines with what is hardest to fit on a page: long names, many layers, memory
/// of many parts, and a profile whose largest part is a delegate that tells none of its operators.
RunSummary wide_summary();

/// A conformance run with long names, many types and verdicts, known gaps, and no change since an
/// earlier run of the same cases.
ConformReport wide_conformance();

}  // namespace assay::report
