#pragma once

#include "features/conform/conform.h"
#include "features/reduce/candidate.h"
#include "features/reduce/finding.h"
#include "features/reduce/proposals.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/artifact/toolchain.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/run_context.h"
#include "assay/record/case.h"
#include "assay/record/run.h"
#include "assay/record/sandbox.h"
#include "assay/record/subject.h"
#include "assay/tensor/tensor.h"

namespace assay {

/// Input of the evaluation of candidates.
struct CandidateEvaluatorRequest {
  RunContext context;  ///< Its run is not in the store yet.
  Case pattern;        ///< Candidates take the place of its model and inputs.
  /// The other side of a check by time, with the same options.
  std::optional<Case> other;
};

/// Kind of reference for a candidate: calls have bounds around float64, a graph may have its types
/// written in it; the quantized graph where the recipe quantizes.
std::string reference_kind_of_candidate(const Case& cell);

/// Judges candidates as `assay conform` judges a case alone: built, loaded and run in processes of
/// their own, compared with a reference. Each is an attempt of a run in the store. Not thread-safe.
class CandidateEvaluator {
 public:
  /// All arguments outlive it. Errors: the store's, kUnavailable (no toolchain).
  static Result<CandidateEvaluator> open(const CandidateEvaluatorRequest& request,
                                         const CampaignTools& tools, const ExecuteCases& execute);

  /// Builds of all of them first, side by side. Errors: what stops everything; kTimeout when asked
  /// to stop.
  Result<std::vector<ReduceFinding>> evaluate(const std::vector<ReduceCandidate>& candidates);

  /// The kind of reference that candidates are compared with.
  [[nodiscard]] std::string reference_kind(const ReduceCandidate& candidate) const;

  /// Holds candidates of a recipe that quantizes against the float network from now on: what is
  /// right against the quantized graph may be wrong there.
  void hold_against_float() { is_against_float_ = true; }

  /// Evaluates once more, in new processes. Errors: as `evaluate`.
  Result<ReduceFinding> evaluate_again(const ReduceCandidate& candidate);

  /// The inputs that a candidate was judged on; none where its reference could not be made.
  Result<std::vector<std::vector<Tensor>>> read_samples(const ReduceCandidate& candidate) const;

  /// The operators of a model. Errors: kUnsupported when it cannot be exported.
  Result<std::vector<GraphNode>> list_nodes(const Json& model);

  /// A job of the toolchain. Errors: kUnavailable, kCrashed.
  Result<AotReply> ask_toolchain(const Json& job) const;

  /// The sandbox in which ask_toolchain has the job done.
  [[nodiscard]] SandboxRequest box_of(const Json& job) const;

  [[nodiscard]] Case case_of(const ReduceCandidate& candidate) const;

  /// Its program and its reference, as the cache has them; absent: they could not be made.
  Result<std::optional<Artifact>> find_artifact(const ReduceCandidate& candidate) const;
  Result<std::optional<Reference>> find_reference(const ReduceCandidate& candidate) const;

  [[nodiscard]] const Toolchain& toolchain() const { return toolchain_; }
  [[nodiscard]] const Case& pattern() const { return request_.pattern; }

 private:
  CandidateEvaluator(const CandidateEvaluatorRequest& request, const CampaignTools& tools,
                     const ExecuteCases& execute, Toolchain toolchain)
      : request_(request), tools_(tools), execute_(execute), toolchain_(std::move(toolchain)) {}

  Status execute_cases(const std::vector<Case>& cases, Pass pass, int n);
  Result<std::map<std::string, Attempt>> attempts(Pass pass, int n) const;
  Result<std::vector<ReduceFinding>> evaluate_as(const std::vector<ReduceCandidate>& candidates,
                                                 int n);
  Status time_all(const Case& other, const std::vector<ReduceCandidate>& candidates, int n,
                  std::vector<ReduceFinding>& findings);
  Result<std::optional<double>> level_of_attempt(const std::map<std::string, Attempt>& attempts,
                                                 const Case& cell) const;

  const CandidateEvaluatorRequest& request_;
  const CampaignTools& tools_;
  const ExecuteCases& execute_;
  Toolchain toolchain_;
  bool is_against_float_ = false;
  std::map<std::string, std::vector<GraphNode>> nodes_;  ///< By digest of the model.
};

}  // namespace assay
