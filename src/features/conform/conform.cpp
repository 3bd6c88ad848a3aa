#include "features/conform/conform.h"

#include "features/conform/case_scheduler.h"
#include "features/conform/case_verdict.h"
#include "features/conform/conform_case.h"
#include "features/conform/judgement_basis.h"
#include "features/conform/known_gaps.h"
#include "features/conform/plan.h"
#include "features/conform/progress.h"
#include "features/conform/repro_command.h"
#include "features/conform/result_reuse.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/toolchain_job.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/case_id.h"
#include "assay/record/conformance.h"
#include "assay/record/invalid_request.h"
#include "assay/record/run.h"
#include "assay/record/sandbox.h"
#include "assay/store/result_store.h"
#include "assay/store/stored_conformance.h"

namespace assay {
namespace {

constexpr int kRunsLookedAt = 200;  ///< For the newest that can be compared with.

std::string text_of_options(const Json& options) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : options.items()) {
    texts.push_back(fmt::format("{}={}", name, unquoted_text(value)));
  }
  return fmt::format("{}", fmt::join(texts, " "));
}

void take_verdict(const CaseVerdict& case_verdict, ConformResult& result) {
  result.verdict = case_verdict.verdict;
  result.stage = case_verdict.stage;
  result.reason_code = case_verdict.reason_code;
  result.text = case_verdict.text;
  result.delegation = case_verdict.delegation;
  result.nodes_delegated = case_verdict.nodes_delegated;
  result.nodes_not_delegated = case_verdict.nodes_not_delegated;
  result.operators_left = case_verdict.operators_left;
  result.error_bound_ratio = case_verdict.error_bound_ratio;
  result.last_words = case_verdict.last_words;
}

ConformResult result_of(const ConformPlan& plan, const ConformCell& cell, const CellState& state) {
  const auto& conform_case = plan.cases[cell.case_index];
  ConformResult result{.name = conform_case.name,
                       .operator_name = conform_case.operator_name,
                       .dtype = conform_case.dtype,
                       .shape_class = conform_case.shape_class,
                       .values = conform_case.values,
                       .recipe = cell.eval_case.recipe.name,
                       .engine = cell.eval_case.engine_build,
                       .options = text_of_options(cell.eval_case.options),
                       .case_key = case_key(cell.eval_case),
                       .is_joint = state.is_joint,
                       .was_in_joint = state.was_in_joint,
                       .command = repro_command(cell.eval_case)};
  for (const auto& case_verdict : state.alone) {
    result.alone.push_back(case_verdict.verdict);
  }
  if (!state.final) {
    return result;
  }
  take_verdict(*state.final, result);
  return result;
}

/// Identifies a result across runs, and its engine build. The key of its case would not do: it
/// changes with the tensors of the suite.
CaseId id_of_result(const ConformResult& result) {
  const auto engine = result.engine.substr(0, result.engine.find('@'));
  return {.case_key = Json({result.name, result.recipe, result.options, engine}).dump(),
          .engine_build = result.engine,
          .device = {}};
}

using VerdictsById = std::map<CaseId, ConformVerdict>;

VerdictsById verdicts_by_id(const ConformReport& report, const MatchedIds& matched) {
  VerdictsById verdicts;
  for (const auto& result : report.results) {
    if (result.verdict != ConformVerdict::kNotRun) {
      verdicts[matched.shared(id_of_result(result))] = result.verdict;
    }
  }
  return verdicts;
}

/// Also those that did not run: a run is on several builds before each has a result.
std::set<CaseId> ids_of(const ConformReport& report) {
  std::set<CaseId> ids;
  std::ranges::transform(report.results, std::inserter(ids, ids.end()), id_of_result);
  return ids;
}

/// Fills in what changed, and how many results the two runs share.
void add_changes(const ConformReport& earlier, ConformReport& report) {
  const MatchedIds matched(ids_of(earlier), ids_of(report));
  const auto before = verdicts_by_id(earlier, matched);
  const auto now = verdicts_by_id(report, matched);
  int compared = 0;
  for (const auto& result : report.results) {
    const auto found = before.find(matched.shared(id_of_result(result)));
    if (result.verdict == ConformVerdict::kNotRun) {
      continue;
    }
    if (found == before.end()) {
      ++report.results_only_now;
      continue;
    }
    ++compared;
    if (found->second != result.verdict) {
      report.changes.push_back({.name = result.name,
                                .recipe = result.recipe,
                                .options = result.options,
                                .before = found->second,
                                .after = result.verdict});
    }
  }
  report.results_compared = compared;
  report.results_only_earlier = static_cast<int>(
      std::ranges::count_if(before, [&](const auto& one) { return !now.contains(one.first); }));
}

bool shares_results(const ConformReport& a, const ConformReport& b) {
  const auto earlier = recipes_of(a);
  const auto now = recipes_of(b);
  for (const auto& recipe : now) {
    if (a.suite == b.suite && std::ranges::find(earlier, recipe) != earlier.end()) {
      return true;
    }
  }
  return false;
}

/// The report that is named, or the newest one of the same suite with a recipe in common.
Result<std::optional<ConformReport>> earlier_report(ResultStore& store,
                                                    const std::string& reference,
                                                    const ConformReport& report) {
  if (!reference.empty()) {
    ASSAY_ASSIGN_OR_RETURN(const auto run, get_conform_run(store, reference));
    ASSAY_ASSIGN_OR_RETURN(auto found, read_conform_report(store, run));
    return std::optional(std::move(found));
  }
  ASSAY_ASSIGN_OR_RETURN(
      const auto runs,
      store.list_runs({.limit = kRunsLookedAt, .purpose = std::string(kConformPurpose)}));
  for (const auto& listing : runs) {
    if (listing.run.id == report.run.id || listing.run.finished_unix_ns == 0) {
      continue;
    }
    auto found = read_conform_report(store, listing.run);
    if (found && shares_results(*found, report)) {
      return std::optional(std::move(*found));
    }
  }
  return std::optional<ConformReport>();
}

/// A report that cannot be compared is judged all the same.
void compare_with_earlier(ResultStore& store, const std::string& reference, ConformReport& report) {
  const auto earlier = earlier_report(store, reference, report);
  if (!earlier) {
    report.notes.push_back("not compared with an earlier run: " + earlier.error().message);
  } else if (*earlier) {
    report.earlier_run = (*earlier)->run.id;
    add_changes(**earlier, report);
  }
}

/// The id of the run to compare with, before hours are spent and "latest" is another one; empty
/// where none is named. Errors: kNotFound.
Result<std::string> find_earlier_run(ResultStore& store, const std::string& reference) {
  if (reference.empty()) {
    return std::string();
  }
  ASSAY_ASSIGN_OR_RETURN(const auto run, get_conform_run(store, reference));
  ASSAY_ASSIGN_OR_RETURN(const auto report, read_conform_report(store, run));
  return report.run.id;
}

/// Turns a pass into fail_delegation if its delegation is below the requirement.
void require_delegation(Delegation required, ConformResult& result) {
  if (result.verdict != ConformVerdict::kPass || is_delegated_enough(result.delegation, required)) {
    return;
  }
  result.verdict = ConformVerdict::kFailDelegation;
  result.text = fmt::format("delegation is {}, but {} is required", name_of(result.delegation),
                            name_of(required));
  if (!result.operators_left.empty()) {
    result.text += fmt::format("; left: {}", fmt::join(result.operators_left, ", "));
  }
}

/// Results of all cells of the plan.
std::vector<ConformResult> results_of(const ConformPlan& plan, const Judged& judged,
                                      const std::map<std::size_t, ConformResult>& unchanged,
                                      Delegation required) {
  std::vector<ConformResult> results;
  for (std::size_t i = 0; i < plan.cells.size(); ++i) {
    const auto known = unchanged.find(i);
    auto result =
        known == unchanged.end() ? result_of(plan, plan.cells[i], judged.states[i]) : known->second;
    const auto& reason = judged.unavailable[plan.cells[i].setting_index];
    if (known == unchanged.end() && !reason.empty()) {
      result.reason_code = kRecipeUnavailable;
      result.text = reason;
    }
    require_delegation(required, result);
    results.push_back(std::move(result));
  }
  return results;
}

void note_unavailable(const ConformPlan& plan, const Judged& judged, ConformReport& report) {
  for (std::size_t i = 0; i < plan.settings.size(); ++i) {
    const auto& cell = plan.settings[i].pattern;
    if (const auto& reason = judged.unavailable[i]; !reason.empty()) {
      report.notes.push_back(
          fmt::format("{} on {} is unavailable: {}", cell.recipe.name, cell.engine_build, reason));
    }
  }
}

void note_unchanged(const std::map<std::size_t, ConformResult>& unchanged,
                    const ConformRequest& request, ConformReport& report) {
  if (!request.changed_since.empty()) {
    report.notes.push_back(
        fmt::format("{} of {} results are reused passes of run {} or earlier: case, engine, "
                    "toolchain and machine are unchanged",
                    unchanged.size(), report.results.size(), request.changed_since));
  }
}

/// Lists of recipes, each once: several engines or options share those of their recipe.
void apply_lists(const ConformPlan& plan, ConformReport& report) {
  std::vector<std::string> done;
  for (const auto& setting : plan.settings) {
    const auto& gaps = setting.gaps;
    if (std::ranges::find(done, gaps.recipe) != done.end()) {
      continue;
    }
    done.push_back(gaps.recipe);
    apply_known_gaps(gaps, setting.gap_context, report.results);
    for (auto& stale : find_stale_gaps(gaps, setting.gap_context, report.results)) {
      report.stale.push_back(std::move(stale));
    }
  }
}

/// Returns the run as the store has it: workers of a fleet must write the same one.
Result<Run> open_run(const ConformRequest& request, ResultStore& store) {
  const auto& context = request.context;
  ASSAY_RETURN_IF_ERROR(store.add_environment(context.environment));
  ASSAY_ASSIGN_OR_RETURN(const auto bases, bases_of(request));
  if (!context.is_resumed) {
    auto run = context.run;
    run.spec[kBasesKey] = bases;
    ASSAY_RETURN_IF_ERROR(store.add_run(run));
    return run;
  }
  const auto before = bases_of_run(context.run);
  if (before.empty() || before == bases) {
    return context.run;
  }
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("run {} was judged with other libraries or tolerances; give the "
                          "--library and recipe files that it had, as they were, or start anew",
                          context.run.id));
}

}  // namespace

Result<CaseListing> list_cases(const CaseSelection& selection, int parallel_jobs,
                               const CampaignTools& tools) {
  ASSAY_ASSIGN_OR_RETURN(const auto toolchain, tools.toolchain_of(Json()));
  // It reads nothing but Assay's own suites.
  ASSAY_ASSIGN_OR_RETURN(const auto reply,
                         run_toolchain_job(toolchain, parallel_jobs, listing_request(selection),
                                           SandboxMode::kOff, tools));
  if (reply.conclusion.outcome != Outcome::kCompleted) {
    const bool is_request_wrong = reply.conclusion.reason_code == kInvalidRequest;
    return fail(is_request_wrong ? ErrorCode::kInvalidArgument : ErrorCode::kUnavailable,
                "the toolchain cannot list the cases: " + reply.conclusion.text);
  }
  return listing_from_json(reply.result);
}

Result<ConformReport> run_conformance(const ConformRequest& request, const CampaignTools& tools,
                                      const ExecuteCases& execute) {
  const auto begin_ns = monotonic_ns();
  ASSAY_ASSIGN_OR_RETURN(const auto earlier_run,
                         find_earlier_run(tools.store, request.earlier_run));
  auto context = request.context;
  ASSAY_ASSIGN_OR_RETURN(context.run, open_run(request, tools.store));
  auto plan = plan_conformance(request.listing.cases, request.settings, request.limits);
  ASSAY_ASSIGN_OR_RETURN(const auto unchanged, find_reusable_results(plan, request, tools));
  drop_cells(unchanged, plan);
  ConformProgress progress(tools.listener);
  const CampaignTools quiet{.store = tools.store,
                            .cache = tools.cache,
                            .toolchain_of = tools.toolchain_of,
                            .connect_target = tools.connect_target,
                            .lock_device = tools.lock_device,
                            .listener = progress,
                            .servers = tools.servers};
  ASSAY_ASSIGN_OR_RETURN(const auto judged, judge_plan(plan, context, quiet, execute));
  progress.close();
  ConformReport report{.run = context.run,
                       .environment = request.context.environment,
                       .suite = request.suite,
                       .tier = request.tier,
                       .shard = request.shard,
                       .coverage = request.listing.coverage,
                       .stages = progress.stages(),
                       .joint_programs = judged.joint_programs,
                       .alone_programs = judged.alone_programs};
  report.results = results_of(plan, judged, unchanged, request.required_delegation);
  note_unchanged(unchanged, request, report);
  note_unavailable(plan, judged, report);
  apply_lists(plan, report);
  compare_with_earlier(tools.store, earlier_run, report);
  if (judged.is_stopped) {
    report.notes.emplace_back("the run was stopped before every case had a verdict");
  } else {
    report.run.finished_unix_ns = unix_time_ns();
  }
  report.seconds = static_cast<double>(monotonic_ns() - begin_ns) / 1e9;
  const auto text = Json(report).dump(-1, ' ', false, Json::error_handler_t::replace);
  ASSAY_RETURN_IF_ERROR(tools.store.add_attachment(
      {.owner = report.run.id, .kind = std::string(kConformReportKind), .content = text}));
  if (!judged.is_stopped) {
    ASSAY_RETURN_IF_ERROR(tools.store.finish_run(report.run.id, report.run.finished_unix_ns));
  }
  return report;
}

}  // namespace assay
