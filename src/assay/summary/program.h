#pragma once

#include <map>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/record/axes.h"
#include "assay/record/launch.h"
#include "assay/record/metric.h"
#include "assay/record/subject.h"

namespace assay {

/// Sizes, delegation and ahead-of-time cost, from an artifact's manifest (docs/contracts/aot.md).
struct ProgramSummary {
  Delegation delegation = Delegation::kUnknown;
  std::map<std::string, Estimate> metrics;
};

ProgramSummary summarize_program(const Artifact& artifact);

/// Memory metrics of the memory pass.
std::map<std::string, Estimate> summarize_memory(const MemoryReport& memory);

}  // namespace assay
