#pragma once

#include "features/conform/case_verdict.h"
#include "features/conform/conform.h"
#include "features/conform/plan.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/run.h"

namespace assay {

/// Verdicts of one cell so far.
struct CellState {
  std::optional<CaseVerdict> final;
  bool is_joint = false;  ///< The final one is of a joint program.
  std::optional<ConformVerdict> was_in_joint;
  std::vector<CaseVerdict> alone;  ///< Verdicts of judgements in processes of their own.
};

/// Verdicts of all cells, and how many programs they took.
struct Judged {
  std::vector<CellState> states;  ///< One for each cell of the plan.
  int joint_programs = 0;
  int alone_programs = 0;
  std::vector<std::string> unavailable;  ///< Why each setting cannot be used here; "": it can.
  bool is_stopped = false;
};

/// Judges every cell of a plan whose setting can be used here, by campaigns of the request's run,
/// which is in the store.
Result<Judged> judge_plan(const ConformPlan& plan, const RunContext& context,
                          const CampaignTools& tools, const ExecuteCases& execute);

}  // namespace assay
