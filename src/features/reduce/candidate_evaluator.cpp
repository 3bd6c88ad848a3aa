#include "features/reduce/candidate_evaluator.h"

#include "features/conform/availability.h"
#include "features/conform/case_verdict.h"
#include "features/conform/conform.h"
#include "features/reduce/candidate.h"
#include "features/reduce/finding.h"
#include "features/reduce/proposals.h"

#include <cstddef>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/artifact/aot_client.h"
#include "assay/artifact/artifact_builder.h"
#include "assay/artifact/cache.h"
#include "assay/artifact/job_box.h"
#include "assay/artifact/toolchain.h"
#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/stopping.h"
#include "assay/campaign/toolchain_job.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/launch.h"
#include "assay/record/model_inputs.h"
#include "assay/record/run.h"
#include "assay/record/sandbox.h"
#include "assay/record/subject.h"
#include "assay/spec/reference_kind.h"
#include "assay/stats/quantile.h"
#include "assay/store/result_store.h"
#include "assay/tensor/safetensors.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

constexpr int kFirst = 0;
constexpr int kAgain = 1;
constexpr int kAgainstFloat = 2;  ///< Added where the reference is another.

ReduceFinding finding_from(const CaseVerdict& case_verdict) {
  return {.verdict = case_verdict.verdict,
          .stage = case_verdict.stage,
          .reason_code = case_verdict.reason_code,
          .text = case_verdict.text,
          .delegation = case_verdict.delegation,
          .operators_left = case_verdict.operators_left};
}

Case put_in(Case pattern, const ReduceCandidate& candidate) {
  pattern.model = candidate.model;
  pattern.inputs = candidate.inputs;
  if (candidate.inputs.generator == kModelInputs) {
    pattern.calibration.generator = kModelInputs;  // With another seed.
  }
  return pattern;
}

}  // namespace

std::string reference_kind_of_candidate(const Case& cell) {
  return std::string(name_of(nearest_reference_kind(cell, is_call(cell.model))));
}

Result<CandidateEvaluator> CandidateEvaluator::open(const CandidateEvaluatorRequest& request,
                                                    const CampaignTools& tools,
                                                    const ExecuteCases& execute) {
  const auto& context = request.context;
  ASSAY_ASSIGN_OR_RETURN(auto toolchain, tools.toolchain_of(request.pattern.recipe.lowering));
  ASSAY_RETURN_IF_ERROR(tools.store.add_environment(context.environment));
  ASSAY_RETURN_IF_ERROR(tools.store.add_run(context.run));
  return CandidateEvaluator(request, tools, execute, std::move(toolchain));
}

Case CandidateEvaluator::case_of(const ReduceCandidate& candidate) const {
  return put_in(pattern(), candidate);
}

Result<std::vector<ReduceFinding>> CandidateEvaluator::evaluate(
    const std::vector<ReduceCandidate>& candidates) {
  return evaluate_as(candidates, kFirst);
}

Result<ReduceFinding> CandidateEvaluator::evaluate_again(const ReduceCandidate& candidate) {
  ASSAY_ASSIGN_OR_RETURN(const auto findings, evaluate_as({candidate}, kAgain));
  return findings.front();
}

std::string CandidateEvaluator::reference_kind(const ReduceCandidate& candidate) const {
  auto cell = case_of(candidate);
  if (is_against_float_) {
    cell.recipe.quantization = nullptr;
  }
  return reference_kind_of_candidate(cell);
}

Result<std::vector<ReduceFinding>> CandidateEvaluator::evaluate_as(
    const std::vector<ReduceCandidate>& candidates, int n) {
  n += is_against_float_ ? kAgainstFloat : 0;
  std::vector<Case> cases;
  cases.reserve(candidates.size());
  for (const auto& candidate : candidates) {
    cases.push_back(case_of(candidate));
  }
  ASSAY_RETURN_IF_ERROR(execute_cases(cases, Pass::kEvaluate, n));
  ASSAY_ASSIGN_OR_RETURN(const auto found, attempts(Pass::kEvaluate, n));
  std::vector<ReduceFinding> findings;
  for (const auto& cell : cases) {
    const auto attempt = found.find(case_key(cell));
    if (attempt == found.end()) {
      return fail(ErrorCode::kInternal, "a candidate was not judged: " + label_of(cell));
    }
    ASSAY_ASSIGN_OR_RETURN(const auto case_verdicts,
                           read_case_verdicts(tools_.store, attempt->second, 1));
    const auto& case_verdict = case_verdicts.front();
    findings.push_back(finding_from(has_to_be_refused(cell.model) ? verdict_on_refusal(case_verdict)
                                                                  : case_verdict));
  }
  if (const auto& other = request_.other) {
    ASSAY_RETURN_IF_ERROR(time_all(*other, candidates, n, findings));
  }
  return findings;
}

/// One campaign for each kind of reference.
Status CandidateEvaluator::execute_cases(const std::vector<Case>& cases, Pass pass, int n) {
  std::map<std::string, std::vector<Case>> campaigns;
  for (const auto& cell : cases) {
    campaigns[reference_kind({.model = cell.model, .inputs = cell.inputs})].push_back(cell);
  }
  for (const auto& [kind, cells] : campaigns) {
    auto request = evaluation_of(request_.context, n, kind, cells);
    request.context.settings.passes = {pass};
    ASSAY_RETURN_IF_ERROR(execute_(request, tools_));
  }
  return {};
}

/// Finished attempts of a pass, by the key of the case: all have the engine of the pattern.
Result<std::map<std::string, Attempt>> CandidateEvaluator::attempts(Pass pass, int n) const {
  std::map<std::string, Attempt> found;
  ASSAY_ASSIGN_OR_RETURN(const auto all, tools_.store.attempts_of_run(request_.context.run.id));
  for (const auto& attempt : all) {
    if (attempt.is_finished && attempt.pass == pass && attempt.n == n) {
      found[attempt.case_key] = attempt;
    }
  }
  return found;
}

/// Times the candidates that are right with both recipes.
Status CandidateEvaluator::time_all(const Case& other,
                                    const std::vector<ReduceCandidate>& candidates, int n,
                                    std::vector<ReduceFinding>& findings) {
  std::vector<Case> cases;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (is_right(findings[i])) {
      cases.push_back(case_of(candidates[i]));
      cases.push_back(put_in(other, candidates[i]));
    }
  }
  ASSAY_RETURN_IF_ERROR(execute_cases(cases, Pass::kTiming, n));
  ASSAY_ASSIGN_OR_RETURN(const auto found, attempts(Pass::kTiming, n));
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(const auto own, level_of_attempt(found, case_of(candidates[i])));
    ASSAY_ASSIGN_OR_RETURN(const auto held, level_of_attempt(found, put_in(other, candidates[i])));
    if (own && held && *held > 0) {
      findings[i].time_ratio = *own / *held;
    }
  }
  return {};
}

/// The median over launches; nothing where it did not complete.
Result<std::optional<double>> CandidateEvaluator::level_of_attempt(
    const std::map<std::string, Attempt>& attempts, const Case& cell) const {
  const auto attempt = attempts.find(case_key(cell));
  if (attempt == attempts.end() || attempt->second.outcome != Outcome::kCompleted) {
    return std::optional<double>();
  }
  ASSAY_ASSIGN_OR_RETURN(const auto launches, tools_.store.launches_of_attempt(attempt->second.id));
  std::vector<double> levels;
  for (const auto& launch : launches) {
    if (launch.measurement) {
      levels.push_back(level_of(*launch.measurement));
    }
  }
  return levels.empty() ? std::optional<double>() : stats::median(levels);
}

Result<std::optional<Artifact>> CandidateEvaluator::find_artifact(
    const ReduceCandidate& candidate) const {
  const auto cell = case_of(candidate);
  return tools_.cache.find_artifact(
      artifact_key(cell, toolchain_.id),
      scope_of_artifact(cell, toolchain_, request_.context.settings.sandbox));
}

Result<std::optional<Reference>> CandidateEvaluator::find_reference(
    const ReduceCandidate& candidate) const {
  const auto cell = case_of(candidate);
  const auto kind = reference_kind(candidate);
  return tools_.cache.find_reference(
      reference_key(cell, kind, toolchain_.id),
      scope_of_reference(cell, kind, toolchain_, request_.context.settings.sandbox));
}

Result<std::vector<std::vector<Tensor>>> CandidateEvaluator::read_samples(
    const ReduceCandidate& candidate) const {
  ASSAY_ASSIGN_OR_RETURN(const auto reference, find_reference(candidate));
  if (!reference) {
    return std::vector<std::vector<Tensor>>();
  }
  const auto path = std::filesystem::path(reference->folder) / "inputs.safetensors";
  ASSAY_ASSIGN_OR_RETURN(const auto tensors, read_safetensors(path));
  return samples_from_tensors(tensors);
}

Result<AotReply> CandidateEvaluator::ask_toolchain(const Json& job) const {
  const auto& settings = request_.context.settings;
  return run_toolchain_job(toolchain_, settings.parallel_jobs, job, settings.sandbox, tools_);
}

SandboxRequest CandidateEvaluator::box_of(const Json& job) const {
  return box_of_job(job, toolchain_, request_.context.settings.sandbox);
}

Result<std::vector<GraphNode>> CandidateEvaluator::list_nodes(const Json& model) {
  const auto digest = digest_of_json(model);
  if (const auto known = nodes_.find(digest); known != nodes_.end()) {
    return known->second;
  }
  ASSAY_ASSIGN_OR_RETURN(const auto reply, ask_toolchain({{"job", "nodes"}, {"model", model}}));
  if (reply.conclusion.outcome != Outcome::kCompleted) {
    return fail(ErrorCode::kUnsupported,
                "the model cannot be split, so it cannot be reduced: " + reply.conclusion.text);
  }
  std::vector<GraphNode> nodes;
  for (const auto& node : reply.result.value("nodes", Json::array())) {
    nodes.push_back({.name = node.at("name").get<std::string>(),
                     .operator_name = node.at("operator").get<std::string>(),
                     .call = node.at("call")});
  }
  nodes_[digest] = nodes;
  return nodes;
}

}  // namespace assay
