#pragma once

#include <vector>

#include "assay/base/json.h"

namespace assay {

/// How large a call is (docs/reference/conformance-cases.md), the weightiest first: elements over
/// all samples, dimensions, what is odd of the tensors (types but float32, layouts, domains) and
/// how far sizes are left open, arguments, and how long its values are to write down. Values that
/// are drawn count as long ones.
std::vector<double> size_of_call(const Json& call, int samples);

}  // namespace assay
