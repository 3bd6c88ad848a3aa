#pragma once

#include <string>

#include "assay/campaign/run_context.h"
#include "assay/record/case.h"

namespace assay {

/// The two sides of a comparison: B against A.
struct ComparisonRequest {
  RunContext context;
  Case a;
  Case b;
  bool finishes_run = true;      ///< Nothing more comes to the run after this.
  std::string worker = "local";  ///< Who makes the attempts: JobExecution::id in a fleet.
};

}  // namespace assay
