#pragma once

#include "assay/record/summary.h"
#include "assay/summary/case_rows.h"

namespace assay {

/// Sets the outcome of a case with its stage, reason, text and last words: those of the worst of
/// its passes. A pass that failed is worse than one that did not finish, that one worse than one
/// that was refused; of equal ones the first of timing, evaluate, memory and profile counts. Notes
/// name the others that did not complete. A case without any attempt is unfinished.
void decide_outcome(const CaseRows& rows, CaseSummary& summary);

}  // namespace assay
