#pragma once

#include "assay/campaign/run_context.h"
#include "assay/record/case.h"

namespace assay {

/// The two sides of a comparison: B against A.
struct ComparisonRequest {
  RunContext context;
  Case a;
  Case b;
};

}  // namespace assay
