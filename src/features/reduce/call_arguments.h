#pragma once

#include "features/reduce/call_tensors.h"

#include <vector>

#include "assay/base/json.h"

namespace assay {

/// Fewer and plainer arguments: named ones that go, the last ones that go, None for what may be
/// none, 0, 1 and halves for numbers, shorter lists. What the operator refuses fails in eager, and
/// is no failure then.
std::vector<CallChange> fewer_arguments(const Json& call);

}  // namespace assay
