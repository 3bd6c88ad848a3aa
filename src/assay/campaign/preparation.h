#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/artifact/artifact_builder.h"
#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/listener.h"
#include "assay/campaign/run_context.h"
#include "assay/record/case.h"
#include "assay/record/conclusion.h"
#include "assay/record/run.h"
#include "assay/record/subject.h"

namespace assay {

/// A case with all that was made for it, ready to launch; or with the reason why not.
struct PreparedCase {
  Case cell;
  EngineBuild build;
  std::string key;  ///< case_key of the cell.
  Subject subject;
  std::string subject_digest;  ///< subject_key of the subject.
  std::optional<Artifact> artifact;
  std::string artifact_id;  ///< Artifact::id, once it is stored; empty: there is none.
  Conclusion failure;       ///< Why there is no artifact.
  std::map<std::string, Reference> references;           ///< Keyed by kind.
  std::map<std::string, Conclusion> missing_references;  ///< Why one is missing, keyed by kind.
  std::shared_ptr<const PreparedCase> pieces;  ///< Its layers apart, where its layers are outputs.
};

/// Tells a campaign's listener how artifacts are made, as the phase "artifacts".
/// `listener` outlives the result.
BuildListener build_listener(CampaignListener& listener);

/// The case whose program is these layers of the network, each by itself; "*": all of them.
Case case_of_pieces(const Case& cell, std::vector<std::string> layers);

/// Why a case is decided without a launch; absent when it can be launched. Inputs that a model
/// brings along come out of a reference: where none could be made, the model itself fails, and that
/// is no fault of the backend. Inputs in a file do, too, unless the model is a finished program:
/// the reason why the file cannot be used comes from the toolchain, which alone reads all of its
/// forms.
std::optional<Conclusion> why_not_launched(const PreparedCase& prepared);

/// The artifact and the subject that an attempt at the case refers to.
Status store_subject(ResultStore& store, const PreparedCase& prepared);

/// Stores a reference with an attachment that names a run which uses it: without one it goes when a
/// run is removed.
Status store_reference(ResultStore& store, const std::string& run, const Reference& reference);

/// Completes the subject of a case with what was made for it, and stores both and the references,
/// which the run uses.
Status store_prepared(ResultStore& store, const std::string& run, PreparedCase& prepared);

/// Takes artifacts and references from the cache, has the rest made, and stores them with the
/// subjects. A case whose artifact cannot be made is prepared with its failure. Errors: what stops
/// everything (no toolchain, the store, a program file that is not there). If
/// CampaignTools::prepare is set, it makes the cases instead.
Result<std::vector<PreparedCase>> prepare_cases(const RunContext& context,
                                                const std::vector<Case>& cases,
                                                const CampaignTools& tools);

}  // namespace assay
