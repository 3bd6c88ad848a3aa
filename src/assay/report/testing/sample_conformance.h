#pragma once

#include "assay/record/conformance.h"

namespace assay::report {

/// A run of `assay conform` with a verdict of each kind of finding: a new failure with an infinite
/// error and hostile text, a known one, a listed one that passes, a vacuous check, a case that was
/// not run, one that passes only alone; coverage, changes, a list to be shortened.
ConformReport sample_conformance();

}  // namespace assay::report
