#pragma once

#include "assay/campaign/run_context.h"
#include "assay/record/case.h"

namespace assay {

/// What is compared: B against A.
struct ComparisonRequest {
  RunContext context;
  Case a;
  Case b;
};

}  // namespace assay
