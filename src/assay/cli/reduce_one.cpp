#include "assay/cli/reduce_one.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/json.h"
#include "assay/base/log.h"
#include "assay/base/result.h"
#include "assay/base/units.h"
#include "assay/campaign/campaign.h"
#include "assay/cli/campaign_setup.h"
#include "assay/cli/interrupt.h"
#include "assay/cli/quick_spec.h"
#include "assay/conform/conform.h"
#include "assay/conform/conform_case.h"
#include "assay/record/case.h"
#include "assay/record/model_inputs.h"
#include "assay/reduce/bundle.h"
#include "assay/reduce/candidate.h"
#include "assay/reduce/case_judge.h"
#include "assay/reduce/check.h"
#include "assay/reduce/finding.h"
#include "assay/reduce/proposals.h"
#include "assay/reduce/reducer.h"
#include "assay/reduce/replay.h"
#include "assay/spec/program_format.h"
#include "assay/spec/spec.h"
#include "assay/store/result_store.h"

namespace assay::cli {
namespace {

constexpr int kSamples = 3;
constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kJobTimeoutNs = 300 * kSecondNs;
constexpr std::int64_t kLaunchTimeoutNs = 60 * kSecondNs;
constexpr int kLaunchesTimed = 3;

/// "aten.add.Tensor/float32/add-3", "models/diamond": a case of the suites, and no file or model.
bool is_case_name(const std::string& text) {
  const bool is_in_suite = text.starts_with("aten.") || text.starts_with("models/");
  const auto last = text.substr(text.rfind('/') + 1);
  return is_in_suite && text.find(':') == std::string::npos && last.find('.') == std::string::npos;
}

Result<Spec> spec_from_check(const ReduceOptions& options, const ReduceCheck& check) {
  auto quick = options.quick;
  if (!is_case_name(quick.model) && find_program_format(quick.model)) {
    return fail(ErrorCode::kInvalidArgument,
                "a finished program cannot be made smaller: give the model or the case, and a "
                "recipe");
  }
  if (is_case_name(quick.model)) {
    quick.model = "aten:case";
  }
  if (quick.model.starts_with("aten:")) {
    quick.inputs = kModelInputs;
  }
  if (!check.recipe.empty()) {
    quick.recipes.push_back(check.recipe);
  }
  ASSAY_ASSIGN_OR_RETURN(const auto document, quick.document({"evaluate"}));
  ASSAY_ASSIGN_OR_RETURN(const auto context, options.flags.toolchain.context("assay reduce"));
  return spec_from_json(document, context);
}

/// One case, or two for a check by time.
Result<CaseJudgeRequest> request_of(const ReduceOptions& options, const ReduceCheck& check) {
  ASSAY_ASSIGN_OR_RETURN(const auto spec, spec_from_check(options, check));
  ASSAY_ASSIGN_OR_RETURN(auto campaign, plan_campaign(spec, options.flags));
  const std::size_t wanted = check.recipe.empty() ? 1 : 2;
  if (campaign.cases.size() != wanted) {
    return fail(
        campaign.cases.empty() ? ErrorCode::kUnavailable : ErrorCode::kInvalidArgument,
        fmt::format("{} cases, but only {} can be reduced: give one --recipe that runs here and "
                    "one value for each --option; `assay doctor` shows what is missing",
                    campaign.cases.size(), wanted == 1 ? "one" : "one with two recipes"));
  }
  campaign.run.purpose = "reduce";
  campaign.settings.job_timeout_ns = kJobTimeoutNs;
  if (campaign.settings.launch_timeout_ns == 0) {
    campaign.settings.launch_timeout_ns = kLaunchTimeoutNs;
  }
  campaign.settings.launches = {.least = kLaunchesTimed, .most = kLaunchesTimed};
  CaseJudgeRequest request;
  if (wanted == 2) {
    request.other = campaign.cases.back();
    campaign.cases.pop_back();
  }
  request.campaign = std::move(campaign);
  return request;
}

/// The case of that name in the suites.
Result<ReduceCandidate> find_case(const std::string& name, const ReduceOptions& options,
                                  const CampaignTools& tools) {
  const CaseSelection selection{.suite = name.starts_with("models/") ? "models" : "operators",
                                .tier = "full",
                                .match = {name}};
  ASSAY_ASSIGN_OR_RETURN(const auto listing,
                         list_cases(selection, options.flags.toolchain.jobs, tools));
  const auto found = std::ranges::find(listing.cases, name, &ConformCase::name);
  if (found == listing.cases.end()) {
    return fail(
        ErrorCode::kNotFound,
        fmt::format("no case '{}'; `assay conform --dry-run --tier full` lists the cases", name));
  }
  return ReduceCandidate{.model = found->model, .inputs = found->inputs};
}

Result<ReduceCandidate> first_candidate(const ReduceOptions& options, const Case& pattern,
                                        const CampaignTools& tools) {
  if (is_case_name(options.quick.model)) {
    return find_case(options.quick.model, options, tools);
  }
  ReduceCandidate first{.model = pattern.model, .inputs = pattern.inputs};
  first.inputs.count = kSamples;
  return first;
}

/// What the verdict of a candidate depends on beside the candidate.
std::string subject_of(const ReduceOptions& options, const CaseJudge& judge,
                       const ReduceCandidate& first) {
  const auto& pattern = judge.pattern();
  return digest_of_json({{"case", identity_of(judge.case_of(first))},
                         {"engine", pattern.engine_build},
                         {"toolchain", judge.toolchain().id},
                         {"check", options.check}});
}

Result<ReduceReplay> replay_of(const ReduceOptions& options, const std::string& subject) {
  return options.replay.empty() ? ReduceReplay() : ReduceReplay::open(options.replay, subject);
}

/// Both a clock and an interrupt end it, with what was found so far.
std::function<std::string()> stopping_of(std::int64_t budget_ns) {
  return [until_ns = monotonic_ns() + budget_ns] {
    return std::string(is_interrupted()             ? "interrupted"
                       : monotonic_ns() >= until_ns ? "budget"
                                                    : "");
  };
}

void tell_step(const ReduceStep& step) {
  log_line(LogLevel::kInfo, fmt::format("{}: {}", step.what, text_of_finding(step.finding)));
}

Result<ReductionReport> reduce(const ReduceOptions& options, const ReduceCheck& check,
                               const ReduceCandidate& first, CaseJudge& judge) {
  ASSAY_ASSIGN_OR_RETURN(const auto budget_ns, duration_ns_from_text(options.budget));
  ASSAY_ASSIGN_OR_RETURN(auto replay, replay_of(options, subject_of(options, judge, first)));
  const ListNodes list_nodes = [&judge](const Json& model) { return judge.list_nodes(model); };
  const ReadSamples read_samples = [&judge](const ReduceCandidate& candidate) {
    return judge.read_samples(candidate);
  };
  const JudgeCandidates judge_all = [&judge](const std::vector<ReduceCandidate>& candidates) {
    return judge.judge(candidates);
  };
  ReduceSettings settings{.check = check,
                          .batch = static_cast<std::size_t>(options.batch),
                          .why_stop = stopping_of(budget_ns)};
  if (!options.flags.run.is_quiet) {
    settings.on_step = tell_step;
  }
  ReductionReport report{.name = options.quick.model, .check = options.check};
  ASSAY_ASSIGN_OR_RETURN(
      report.reduction,
      reduce_case(first, proposals_by(list_nodes, read_samples), judge_all, replay, settings));
  const auto& smallest = report.reduction.smallest().candidate;
  report.command = command_of(judge, smallest);
  if (!is_interrupted()) {
    ASSAY_ASSIGN_OR_RETURN(const auto again, judge.judge_again(smallest));
    report.is_confirmed = fails(check, report.reduction.first.finding, again);
  }
  return report;
}

}  // namespace

Result<Reduced> reduce_one(const ReduceOptions& options, const CampaignTools& tools,
                           std::optional<ReduceCandidate> first) {
  ASSAY_ASSIGN_OR_RETURN(const auto check, check_from_text(options.check));
  ASSAY_ASSIGN_OR_RETURN(const auto request, request_of(options, check));
  const ExecuteCases execute_cases = run_campaign;
  ASSAY_ASSIGN_OR_RETURN(auto judge, CaseJudge::open(request, tools, execute_cases));
  if (!first) {
    ASSAY_ASSIGN_OR_RETURN(first, first_candidate(options, judge.pattern(), tools));
  }
  ASSAY_ASSIGN_OR_RETURN(auto report, reduce(options, check, *first, judge));
  if (!options.bundle.empty()) {
    ASSAY_RETURN_IF_ERROR(write_reduction_bundle(options.bundle, judge, report));
  }
  ASSAY_RETURN_IF_ERROR(tools.store.finish_run(request.campaign.run.id, unix_time_ns()));
  return Reduced{.report = std::move(report), .pattern = judge.pattern()};
}

}  // namespace assay::cli
