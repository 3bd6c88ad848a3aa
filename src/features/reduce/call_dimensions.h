#pragma once

#include "features/reduce/call_tensors.h"

#include <vector>

#include "assay/base/json.h"

namespace assay {

/// Fewer sizes that are left open: all of them closed, each of them, and upper bounds nearer to the
/// lower ones. What is closed keeps the size that the tensors are written with.
std::vector<CallChange> fewer_open_sizes(const Json& call);

}  // namespace assay
