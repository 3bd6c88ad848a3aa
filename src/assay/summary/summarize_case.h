#pragma once

#include "assay/record/summary.h"
#include "assay/summary/case_rows.h"
#include "assay/summary/reproduce.h"
#include "assay/summary/summarize.h"

namespace assay {

/// Derives everything that a report shows of one case from its rows, apart from what other cases
/// decide: speed-ups, and with them gates and the verdict (judge_case.h), trade-offs and a label of
/// its own. `how`: the run's way of executing cases.
CaseSummary summarize_case(const CaseRows& rows, const Reproduction& how,
                           const SummaryOptions& options);

}  // namespace assay
