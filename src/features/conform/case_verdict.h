#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/record/conformance.h"
#include "assay/record/metric.h"
#include "assay/record/run.h"
#include "assay/record/summary.h"
#include "assay/store/result_store.h"

namespace assay {

/// Verdict of one attempt on one case.
struct CaseVerdict {
  ConformVerdict verdict = ConformVerdict::kNotRun;
  Stage stage = Stage::kNone;
  std::string reason_code;
  std::string text;
  std::optional<Metric> error_bound_ratio;  ///< Ratio of the worst output.
  std::optional<AccuracyTable> table;
  Delegation delegation = Delegation::kUnknown;
  int nodes_delegated = 0;
  int nodes_not_delegated = 0;
  std::vector<std::string> operators_left;
  std::string last_words;
  bool needs_own_program = false;  ///< A joint program does not tell what of it was delegated.
};

/// An outcome and an accuracy in one word. A case that completed and was compared with nothing is
/// our fault.
ConformVerdict verdict_of(Outcome outcome, Accuracy accuracy);

/// full where nothing was left, none where nothing was delegated.
Delegation delegation_from(int nodes_delegated, int nodes_not_delegated);

/// Takes an engine's word for what its program's manifest cannot know: operators that were left to
/// a fallback when the program was loaded. `load`: options in force; "operators_left" by operator,
/// and "operators_taken", a number.
void correct_delegation(const Json& load, CaseVerdict& case_verdict);

/// Like correct_delegation(), for a part of a joint program: engines count its operators and those
/// of the other parts together. Where they took some and left some, the part needs its own program.
void correct_delegation_of_part(const Json& load, CaseVerdict& part);

/// True if as much was delegated as is required. kNone requires nothing; what is not known is not
/// enough.
bool is_delegated_enough(Delegation found, Delegation required);

/// Judgements of the `cells` parts of a program, from what the campaign stored of a finished
/// attempt; one of a program that has no parts. Empty when the program failed as a whole, and it
/// is joint: nothing is known of any part then. Errors: the store's.
Result<std::vector<CaseVerdict>> read_case_verdicts(ResultStore& store, const Attempt& attempt,
                                                    std::size_t cells);

/// The verdict of a program as that of one that has to refuse its last samples: a pass where it
/// executed the first and then failed with an error, or executed all and answered right. One that
/// executed what its reference has no answer to took what eager refuses.
CaseVerdict verdict_on_refusal(CaseVerdict case_verdict);

/// Joins the verdicts of one case from two processes of its own. The first where they agree; else
/// fail_nondeterministic, or harness_error where one of them is.
CaseVerdict joined_verdict(const CaseVerdict& first, const CaseVerdict& second);

}  // namespace assay
