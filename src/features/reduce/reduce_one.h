#pragma once

#include "features/reduce/bundle.h"
#include "features/reduce/candidate.h"
#include "features/reduce/candidate_evaluator.h"
#include "features/reduce/check.h"
#include "features/reduce/reducer.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/record/case.h"

namespace assay {

/// One model or case to reduce, and what becomes of it.
struct ReduceOneRequest {
  std::string name;  ///< Name of the model or the case, as given by the user.
  CandidateEvaluatorRequest subject;
  std::string check = "same";  ///< A text for check_from_text().
  std::string replay;          ///< File that keeps every verdict; empty: none.
  std::string bundle;          ///< Folder; empty: no bundle is written.
  std::int64_t budget_ns = 0;
  int batch = 4;  ///< Candidates made at a time.
  /// Ends the search with what was found so far.
  std::function<bool()> is_interrupted = [] { return false; };
  std::function<void(const ReduceStep&)> on_step = [](const ReduceStep&) {};
};

/// Reduced case, and the recipe it was reduced with.
struct Reduced {
  ReductionReport report;
  Case pattern;
};

/// "aten.add.Tensor/float32/add-3", "models/diamond": a case of the suites, and no file or model.
bool is_case_name(std::string_view text);

/// The campaign of a reduction: its only case is the pattern, and with a check by time the second
/// one is the other side. Errors: kUnavailable, kInvalidArgument (another number of cases).
Result<CandidateEvaluatorRequest> reduction_from_campaign(CampaignRequest campaign,
                                                          const ReduceCheck& check);

/// Reduces the model or case, and writes its bundle where the request asks for one. `first`: the
/// case, where it is known already. Errors: what is no case, or does not fail; kUnavailable; those
/// of the replay file.
Result<Reduced> reduce_one(const ReduceOneRequest& request, const CampaignTools& tools,
                           std::optional<ReduceCandidate> first = std::nullopt);

}  // namespace assay
