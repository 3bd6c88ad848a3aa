#pragma once

#include "features/conform/conform_case.h"
#include "features/conform/plan.h"

#include <functional>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/run_context.h"
#include "assay/record/axes.h"
#include "assay/record/conformance.h"

namespace assay {

/// Cases and settings of a run of conformance.
struct ConformRequest {
  RunContext context;
  CaseListing listing;                   ///< Cases of this shard.
  std::vector<ConformSetting> settings;  ///< Recipes with engines and options.
  BatchLimits limits;
  std::string suite;
  std::string tier;
  std::string shard;  ///< "1/4"; empty: all.
  /// A case of which less is delegated fails; kNone: nothing is required.
  Delegation required_delegation = Delegation::kNone;
  std::string changed_since;  ///< Run whose passes hold where nothing has changed; empty: none do.
  std::string earlier_run;    ///< Run whose verdicts are compared; empty: the newest that fits.
};

/// Asks the toolchain's fork server (CampaignTools::servers, started where it is absent) for the
/// cases of a suite. Errors: kUnavailable (no toolchain), kInvalidArgument (what the server
/// refuses), kCorrupt.
Result<CaseListing> list_cases(const CaseSelection& selection, int parallel_jobs,
                               const CampaignTools& tools);

/// Judges every case with every setting (docs/guide/conformance.md): a known program first, and a
/// setting that cannot even run it is left out with the reason; then joint programs; one that fails
/// as a whole is split; what did not pass is judged again alone, twice, in fresh processes.
/// A pass in a joint program is an attempt of the case like any other. The report is stored as an
/// attachment of the run. Asked to stop, it is what was found so far, with the rest not_run; the
/// run is not finished then, and can be resumed. Errors: what stops everything.
Result<ConformReport> run_conformance(const ConformRequest& request, const CampaignTools& tools,
                                      const ExecuteCases& execute);

}  // namespace assay
