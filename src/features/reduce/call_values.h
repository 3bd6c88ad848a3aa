#pragma once

#include "features/reduce/call_tensors.h"

#include <vector>

#include "assay/base/json.h"

namespace assay {

/// Simpler elements in the tensors whose data is given: all of a tensor 0 or 1, halves of those
/// that are neither, single ones, and numbers with fewer digits. Constants whose data is drawn
/// become ones.
std::vector<CallChange> simpler_values(const Json& call);

}  // namespace assay
