#include "assay/cli/execute_spec.h"

#include "features/attribution/layer_bundle.h"

#include <algorithm>
#include <cstdint>
#include <expected>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/artifact/cache.h"
#include "assay/artifact/toolchain.h"
#include "assay/artifact/toolchains.h"
#include "assay/base/fs.h"
#include "assay/base/log.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/expected_duration.h"
#include "assay/campaign/extra_cases.h"
#include "assay/campaign/resume.h"
#include "assay/campaign/run_context.h"
#include "assay/cli/campaign_setup.h"
#include "assay/cli/common_flags.h"
#include "assay/cli/execute_on_fleet.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/fleet_setup.h"
#include "assay/cli/interrupt.h"
#include "assay/cli/plan_text.h"
#include "assay/cli/progress.h"
#include "assay/cli/tell_takeover.h"
#include "assay/record/case.h"
#include "assay/record/invalid_request.h"
#include "assay/record/run.h"
#include "assay/record/summary.h"
#include "assay/spec/spec.h"
#include "assay/store/result_store.h"
#include "assay/summary/summarize.h"

namespace assay::cli {
namespace {

using CampaignRequests = std::vector<CampaignRequest>;

std::vector<Case> cases_of(const CampaignRequests& requests) {
  std::vector<Case> cases;
  for (const auto& request : requests) {
    std::ranges::copy(request.cases, std::back_inserter(cases));
  }
  return cases;
}

/// How long the passes took that this run makes, too; `store` may be null.
Result<std::int64_t> last_time(ResultStore* store, const Case& cell,
                               const CampaignSettings& settings) {
  return store == nullptr ? Result<std::int64_t>(0)
                          : last_duration_ns(*store, cell, settings.passes);
}

Result<Plan> plan_of(const CampaignRequests& requests, const CampaignFlags& flags) {
  const auto store = flags.store.open_to_read();
  if (!store && store.error().code != ErrorCode::kNotFound) {
    return std::unexpected(store.error());
  }
  Plan plan;
  const auto place_of = [&requests](const Case& cell) {
    return requests.size() > 1 ? cell.device : "";
  };
  for (const auto& request : requests) {
    for (const auto& cell : request.cases) {
      ASSAY_ASSIGN_OR_RETURN(const auto last_ns, last_time(store ? store->get() : nullptr, cell,
                                                           request.context.settings));
      plan.cases.push_back({.key = case_key(cell),
                            .label = label_of(cell),
                            .place = place_of(cell),
                            .last_ns = last_ns});
    }
    for (const auto& [cell, refusal] : extra_cases_of(request)) {
      plan.references.push_back({.label = label_of(cell),
                                 .place = place_of(cell),
                                 .engine = cell.engine_build,
                                 .refusal = refusal});
    }
  }
  return plan;
}

/// A resumed run gets no cases that it did not begin with: those that --only left out, or those of
/// a file that has changed since.
Status keep_begun_cases(const Run& run, const CampaignFlags& flags, CampaignRequests& requests) {
  ASSAY_ASSIGN_OR_RETURN(const auto store, flags.store.open());
  ASSAY_ASSIGN_OR_RETURN(const auto resumed, keep_cases_of_run(run.id, *store, requests));
  if (resumed.lost > 0) {
    log_line(LogLevel::kWarning,
             fmt::format(
                 "{} of the run's {} cases cannot be resumed: a model file, an engine build or a "
                 "recipe has changed since",
                 resumed.lost, resumed.begun));
  }
  if (resumed.elsewhere > 0) {
    log_line(LogLevel::kInfo,
             fmt::format("{} of the run's {} cases belong to devices that are left out; they stay "
                         "open",
                         resumed.elsewhere, resumed.begun));
  }
  std::map<std::string, Environment> machines;
  for (const auto& request : requests) {
    machines.emplace(request.context.device, request.context.environment);
  }
  ASSAY_RETURN_IF_ERROR(tell_takeover(run, *store,
                                      {.machines = std::move(machines),
                                       .is_run_named = flags.is_run_named,
                                       .command = "assay run --resume"}));
  for (auto& request : requests) {
    request.context.run = run;
    request.context.is_resumed = true;
  }
  return {};
}

/// Leaves out the cases that are not wanted, and the devices that have none then.
void keep_wanted_cases(const std::string& only, CampaignRequests& requests) {
  for (auto& request : requests) {
    std::erase_if(request.cases, [&only](const Case& cell) { return !is_wanted_case(cell, only); });
  }
  std::erase_if(requests, [](const CampaignRequest& request) { return request.cases.empty(); });
  for (auto& request : requests) {
    auto& context = request.context;
    const auto& first = requests.front().context.environment;
    if (!context.is_resumed) {
      context.run.environment = first.id;
      context.run.environment_key = environment_key(first);
    }
  }
}

ReportFlags with_files_of_spec(ReportFlags flags, const Spec& spec) {
  for (const auto& model : spec.models) {
    for (const auto& file :
         {model.model.ref, model.input_file, model.expected_file, model.calibration_file}) {
      if (!file.empty()) {
        flags.inputs.push_back(file);
      }
    }
  }
  return flags;
}

std::string baseline_of_run(const Run& run, const CampaignFlags& flags) {
  const bool is_given = !flags.report.baseline.empty() || !run.spec.is_object();
  return is_given ? flags.report.baseline : run.spec.value("baseline", "");
}

/// How a campaign ended that could begin.
struct CampaignEnd {
  bool is_stopped = false;                   ///< It was asked to.
  std::vector<UnfinishedDevice> unfinished;  ///< Only where others came to their end.
};

/// Runs the campaign; being asked to stop is no failure here: what was measured is reported. So is
/// what other devices measured, if some came to no end.
Result<CampaignEnd> run_to_end_or_stop(const CampaignRequests& requests, ResultStore& store,
                                       const CampaignFlags& flags) {
  Progress progress(flags.run.is_quiet,
                    flags.report.is_on_console() ? Reasons::kInReport : Reasons::kHere);
  const ArtifactCache cache(assay_home() / "cache");
  std::vector<CampaignPart> parts;
  for (const auto& request : requests) {
    const auto device = flags.device.get(request.context.device);
    parts.push_back({.request = request,
                     .tools = campaign_tools(store, cache, flags.toolchain, *device, progress)});
  }
  auto unfinished = run_campaigns(parts);
  if (is_interrupted()) {
    return CampaignEnd{.is_stopped = !unfinished || !unfinished->empty()};
  }
  if (!unfinished) {
    return std::unexpected(std::move(unfinished).error());
  }
  if (unfinished->size() == parts.size()) {
    auto error = std::move(unfinished->front().error);
    error.message +=
        error.message.contains("--resume")
            ? ""
            : fmt::format("; resume with: assay run --resume {}", requests.front().context.run.id);
    return std::unexpected(std::move(error));
  }
  return CampaignEnd{.unfinished = *std::move(unfinished)};
}

Status write_bundles(const CampaignRequests& requests, const RunSummary& summary,
                     const CampaignFlags& flags) {
  const auto& settings = requests.front().context.settings;
  return write_layer_bundles({.cases = cases_of(requests),
                              .folder = flags.bundle,
                              .libraries = settings.libraries,
                              .parallel_jobs = flags.toolchain.jobs,
                              .sandbox = settings.sandbox,
                              .toolchain_of = toolchains_of(default_python(flags.toolchain.python)),
                              .should_stop = is_interrupted},
                             summary, ArtifactCache(assay_home() / "cache"));
}

std::vector<std::string> recipes_of(const std::vector<Case>& cases) {
  std::vector<std::string> names;
  std::ranges::transform(cases, std::back_inserter(names),
                         [](const Case& cell) { return cell.recipe.name; });
  return names;
}

/// A run of which nothing could be made as it was asked for: the message says what, and there is
/// nothing to report.
Status refuse_wrong_requests(const RunSummary& summary) {
  std::vector<std::string> texts;
  for (const auto& one : summary.cases) {
    if (one.reason_code != kInvalidRequest) {
      return {};
    }
    if (std::ranges::find(texts, one.text) == texts.end()) {
      texts.push_back(one.text);
    }
  }
  return texts.empty()
             ? Status()
             : fail(ErrorCode::kInvalidArgument, fmt::format("{}", fmt::join(texts, "\n")));
}

ExitCode exit_code_of_end(const CampaignEnd& end, const RunSummary& summary) {
  for (const auto& device : end.unfinished) {
    log_line(LogLevel::kError,
             fmt::format("device '{}' came to no end, and its cases stay open: {}", device.device,
                         device.error.message));
  }
  if (end.is_stopped || !end.unfinished.empty()) {
    log_line(LogLevel::kInfo, fmt::format("{}; resume with: assay run --resume {}",
                                          end.is_stopped ? "stopped" : "the other devices are done",
                                          summary.run.id));
  }
  return end.is_stopped            ? ExitCode::kInterrupted
         : !end.unfinished.empty() ? ExitCode::kUnavailable
                                   : exit_code_from_summary(summary);
}

}  // namespace

bool is_wanted_case(const Case& cell, const std::string& only) {
  return only.empty() || label_of(cell).find(only) != std::string::npos ||
         case_key(cell).starts_with(only);
}

void CampaignFlags::declare(CLI::App& app) {
  report.declare(app);
  run.declare(app, {"console", "json"});
  run.declare_job_timeout(app);
  device.declare_several(app);
  declare_executor(app, executor);
  toolchain.declare(app);
  store.declare(app);
}

Result<ExitCode> execute_spec(const Spec& spec, const CampaignFlags& flags,
                              const std::optional<Run>& resumed) {
  ASSAY_RETURN_IF_ERROR(with_files_of_spec(flags.report, spec).check());
  if (flags.report.is_list()) {
    return ExitCode::kOk;
  }
  if (!flags.executor.empty()) {
    return execute_on_fleet(spec, flags, resumed);
  }
  ASSAY_ASSIGN_OR_RETURN(auto requests, plan_campaigns(spec, flags));
  if (!resumed) {
    ASSAY_RETURN_IF_ERROR(check_comparisons(requests));
  } else {
    ASSAY_RETURN_IF_ERROR(keep_begun_cases(*resumed, flags, requests));
  }
  keep_wanted_cases(flags.run.only, requests);
  if (requests.empty()) {
    log_line(LogLevel::kError,
             flags.run.only.empty()
                 ? "no case matched: nothing that was asked for can run here, for the reasons "
                   "above; `assay doctor` shows what is missing"
                 : fmt::format("no case matched --only {}; --dry-run in its place lists the cases",
                               flags.run.only));
    return ExitCode::kNothingMatched;
  }
  ASSAY_RETURN_IF_ERROR(flags.report.check_baseline(recipes_of(cases_of(requests))));
  if (flags.run.is_dry_run) {
    ASSAY_ASSIGN_OR_RETURN(const auto plan, plan_of(requests, flags));
    print_out("{}", plan_in_format(plan, flags.report.format));
    return ExitCode::kOk;
  }
  ASSAY_ASSIGN_OR_RETURN(const auto store, flags.store.open());
  ASSAY_ASSIGN_OR_RETURN(const auto end, run_to_end_or_stop(requests, *store, flags));
  ASSAY_ASSIGN_OR_RETURN(const auto summary,
                         report_campaign(*store, requests.front().context.run.id, flags));
  if (!end.is_stopped && !flags.bundle.empty()) {
    ASSAY_RETURN_IF_ERROR(write_bundles(requests, summary, flags));
  }
  return exit_code_of_end(end, summary);
}

Result<RunSummary> report_campaign(ResultStore& store, const std::string& id,
                                   const CampaignFlags& flags) {
  ASSAY_ASSIGN_OR_RETURN(const auto run, store.get_run(id));
  ASSAY_ASSIGN_OR_RETURN(auto summary,
                         summarize_run(store, run, {.baseline = baseline_of_run(run, flags)}));
  ASSAY_RETURN_IF_ERROR(refuse_wrong_requests(summary));
  auto report = flags.report;
  report.suggest_reports(run.id, flags.store);
  ASSAY_RETURN_IF_ERROR(report.write(summary, flags.has_accuracy_tables));
  return summary;
}

Result<ExitCode> report_stored_run(ResultStore& store, const Run& run, const CampaignFlags& flags) {
  ASSAY_RETURN_IF_ERROR(flags.report.check());
  if (flags.report.format == "list") {
    return ExitCode::kOk;
  }
  ASSAY_ASSIGN_OR_RETURN(const auto summary,
                         summarize_run(store, run, {.baseline = baseline_of_run(run, flags)}));
  auto report = flags.report;
  report.suggest_reports(run.id, flags.store);
  ASSAY_RETURN_IF_ERROR(report.write(summary, flags.has_accuracy_tables));
  return exit_code_from_summary(summary);
}

}  // namespace assay::cli
