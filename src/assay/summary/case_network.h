#pragma once

#include <string>

#include "assay/record/summary.h"

namespace assay {

/// Digest of what a case computes and on which inputs, whatever makes and executes it: cases with
/// one are alternatives to each other. It covers what no column shows: sizes by name, a file of
/// inputs, drawn weights.
std::string network_of(const CaseSummary& cell);

}  // namespace assay
