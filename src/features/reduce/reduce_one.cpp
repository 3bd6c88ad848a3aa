#include "features/reduce/reduce_one.h"

#include "features/conform/conform.h"
#include "features/conform/conform_case.h"
#include "features/reduce/bundle.h"
#include "features/reduce/candidate.h"
#include "features/reduce/candidate_evaluator.h"
#include "features/reduce/check.h"
#include "features/reduce/finding.h"
#include "features/reduce/proposals.h"
#include "features/reduce/reducer.h"
#include "features/reduce/replay.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/digest.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/case_launch.h"
#include "assay/record/case.h"
#include "assay/record/subject.h"
#include "assay/store/result_store.h"

namespace assay {
namespace {

constexpr int kSamples = 3;
constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kJobTimeoutNs = 300 * kSecondNs;
constexpr std::int64_t kLaunchTimeoutNs = 60 * kSecondNs;
constexpr int kLaunchesTimed = 3;

/// The case of that name in the suites.
Result<ReduceCandidate> find_case(const std::string& name, int parallel_jobs,
                                  const CampaignTools& tools) {
  const CaseSelection selection{.suite = name.starts_with("models/") ? "models" : "operators",
                                .tier = "full",
                                .match = {name}};
  ASSAY_ASSIGN_OR_RETURN(const auto listing, list_cases(selection, parallel_jobs, tools));
  const auto found = std::ranges::find(listing.cases, name, &ConformCase::name);
  if (found == listing.cases.end()) {
    return fail(
        ErrorCode::kNotFound,
        fmt::format("no case '{}'; `assay conform --dry-run --tier full` lists the cases", name));
  }
  return ReduceCandidate{.model = found->model, .inputs = found->inputs};
}

Result<ReduceCandidate> first_candidate(const ReduceOneRequest& request,
                                        const CampaignTools& tools) {
  if (is_case_name(request.name)) {
    return find_case(request.name, request.subject.context.settings.parallel_jobs, tools);
  }
  const auto& pattern = request.subject.pattern;
  ReduceCandidate first{.model = pattern.model, .inputs = pattern.inputs};
  first.inputs.count = kSamples;
  return first;
}

/// Identifies a file by name and content; one that cannot be read by name only: its launch fails.
Json digests_of_libraries(const std::vector<std::string>& libraries) {
  Json digests = Json::array();
  for (const auto& library : libraries) {
    const auto engine = engine_of_library(library);
    const auto path = engine.empty() ? library : library.substr(engine.size() + 1);
    digests.push_back({library, sha256_hex_of_file(path).value_or("")});
  }
  return digests;
}

/// Digest of all that the verdict of a candidate depends on, except the candidate.
std::string subject_of(const ReduceOneRequest& request, const CandidateEvaluator& evaluator,
                       const ReduceCandidate& first) {
  const auto& context = request.subject.context;
  const auto& engine = evaluator.pattern().engine_build;
  const auto build = std::ranges::find(context.builds, engine, &EngineBuild::reference);
  return digest_of_json(
      {{"case", identity_of(evaluator.case_of(first))},
       {"engine", engine},
       {"build", build == context.builds.end() ? "" : build->build_id},
       {"libraries", digests_of_libraries(context.settings.libraries)},
       {"tolerance", {context.settings.tolerance, request.subject.pattern.recipe.tolerance}},
       {"launch_timeout", context.settings.launch_timeout_ns},
       {"toolchain", evaluator.toolchain().id},
       {"against", evaluator.reference_kind(first)},
       {"check", request.check}});
}

/// A program that is right against the quantized graph may still be wrong against the float
/// network, as `assay eval` finds; then candidates are compared with that.
Status choose_reference(const ReduceCheck& check, const ReduceCandidate& first,
                        CandidateEvaluator& evaluator) {
  const bool is_of_outputs = check.kind == ReduceKind::kSame || check.kind == ReduceKind::kNumeric;
  if (!is_of_outputs || evaluator.pattern().recipe.quantization.is_null()) {
    return {};
  }
  ASSAY_ASSIGN_OR_RETURN(const auto findings, evaluator.evaluate({first}));
  if (is_right(findings.front())) {
    evaluator.hold_against_float();
  }
  return {};
}

Result<ReduceReplay> open_replay(const std::string& file, const std::string& subject) {
  return file.empty() ? ReduceReplay() : ReduceReplay::open(file, subject);
}

/// Both a clock and an interrupt end it, with what was found so far.
std::function<std::string()> stopping_of(const ReduceOneRequest& request) {
  return [&request, until_ns = monotonic_ns() + request.budget_ns] {
    return std::string(request.is_interrupted()     ? "interrupted"
                       : monotonic_ns() >= until_ns ? "budget"
                                                    : "");
  };
}

Result<ReductionReport> reduce(const ReduceOneRequest& request, const ReduceCheck& check,
                               const ReduceCandidate& first, CandidateEvaluator& evaluator) {
  ASSAY_RETURN_IF_ERROR(choose_reference(check, first, evaluator));
  ASSAY_ASSIGN_OR_RETURN(auto replay,
                         open_replay(request.replay, subject_of(request, evaluator, first)));
  const ListNodes list_nodes = [&evaluator](const Json& model) {
    return evaluator.list_nodes(model);
  };
  const ReadSamples read_samples = [&evaluator](const ReduceCandidate& candidate) {
    return evaluator.read_samples(candidate);
  };
  const EvaluateCandidates evaluate_all =
      [&evaluator](const std::vector<ReduceCandidate>& candidates) {
        return evaluator.evaluate(candidates);
      };
  const ReduceSettings settings{.check = check,
                                .batch = static_cast<std::size_t>(request.batch),
                                .why_stop = stopping_of(request),
                                .on_step = request.on_step};
  ReductionReport report{.name = request.name, .check = request.check};
  ASSAY_ASSIGN_OR_RETURN(
      report.reduction,
      reduce_case(first, proposals_by(list_nodes, read_samples), evaluate_all, replay, settings));
  const auto& smallest = report.reduction.smallest().candidate;
  report.command = command_of(evaluator, smallest);
  if (!request.is_interrupted()) {
    ASSAY_ASSIGN_OR_RETURN(const auto again, evaluator.evaluate_again(smallest));
    report.is_confirmed = fails(check, report.reduction.first.finding, again);
  }
  return report;
}

}  // namespace

bool is_case_name(std::string_view text) {
  const bool is_in_suite = text.starts_with("aten.") || text.starts_with("models/");
  const auto last = text.substr(text.rfind('/') + 1);
  return is_in_suite && text.find(':') == std::string_view::npos &&
         last.find('.') == std::string_view::npos;
}

Result<CandidateEvaluatorRequest> reduction_from_campaign(CampaignRequest campaign,
                                                          const ReduceCheck& check) {
  const std::size_t wanted = check.recipe.empty() ? 1 : 2;
  if (campaign.cases.size() != wanted) {
    return fail(
        campaign.cases.empty() ? ErrorCode::kUnavailable : ErrorCode::kInvalidArgument,
        fmt::format("{} cases, but only {} can be reduced: give one --recipe that runs here and "
                    "one value for each --option; `assay doctor` shows what is missing",
                    campaign.cases.size(), wanted == 1 ? "one" : "one with two recipes"));
  }
  CandidateEvaluatorRequest request{.context = std::move(campaign.context),
                                    .pattern = std::move(campaign.cases.front())};
  if (wanted == 2) {
    request.other = std::move(campaign.cases.back());
  }
  request.context.run.purpose = "reduce";
  auto& settings = request.context.settings;
  settings.job_timeout_ns = kJobTimeoutNs;
  if (settings.launch_timeout_ns == 0) {
    settings.launch_timeout_ns = kLaunchTimeoutNs;
  }
  settings.launches = {.least = kLaunchesTimed, .most = kLaunchesTimed};
  return request;
}

Result<Reduced> reduce_one(const ReduceOneRequest& request, const CampaignTools& tools,
                           std::optional<ReduceCandidate> first) {
  ASSAY_ASSIGN_OR_RETURN(const auto check, check_from_text(request.check));
  const ExecuteCases execute_cases = run_campaign;
  ASSAY_ASSIGN_OR_RETURN(auto evaluator,
                         CandidateEvaluator::open(request.subject, tools, execute_cases));
  if (!first) {
    ASSAY_ASSIGN_OR_RETURN(first, first_candidate(request, tools));
  }
  ASSAY_ASSIGN_OR_RETURN(auto report, reduce(request, check, *first, evaluator));
  if (!request.bundle.empty()) {
    ASSAY_RETURN_IF_ERROR(write_reduction_bundle(request.bundle, evaluator, report));
  }
  ASSAY_RETURN_IF_ERROR(tools.store.finish_run(request.subject.context.run.id, unix_time_ns()));
  return Reduced{.report = std::move(report), .pattern = evaluator.pattern()};
}

}  // namespace assay
