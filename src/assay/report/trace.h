#pragma once

#include <string>
#include <vector>

#include "assay/record/summary.h"

namespace assay::report {

/// The profiled inferences of every case as Chrome trace events, which ui.perfetto.dev and
/// chrome://tracing open: one process for a case, with tracks for whole inferences (bind, execute,
/// fetch), the method, operators and delegate calls, and what runs inside delegates. Times in
/// microseconds since the first profiled inference of the case. Cases without spans are left out.
/// Source: Trace Event Format, "complete events" and "metadata events".
std::string trace_from_cases(const std::vector<CaseSummary>& cases);

}  // namespace assay::report
