#include "assay/cli/execute_spec.h"

#include <algorithm>
#include <cstdint>
#include <expected>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "assay/artifact/cache.h"
#include "assay/artifact/toolchain.h"
#include "assay/artifact/toolchains.h"
#include "assay/attribution/layer_bundle.h"
#include "assay/base/fs.h"
#include "assay/base/log.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/base/units.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/extra_cases.h"
#include "assay/campaign/resume.h"
#include "assay/cli/campaign_setup.h"
#include "assay/cli/common_flags.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/interrupt.h"
#include "assay/cli/progress.h"
#include "assay/record/case.h"
#include "assay/record/invalid_request.h"
#include "assay/record/run.h"
#include "assay/record/summary.h"
#include "assay/spec/spec.h"
#include "assay/summary/summarize.h"

namespace assay::cli {
namespace {

bool is_wanted_case(const Case& cell, const std::string& only) {
  return only.empty() || label_of(cell).find(only) != std::string::npos ||
         case_key(cell).starts_with(only);
}

Status print_campaign_plan(const CampaignRequest& request, const CampaignFlags& flags) {
  const auto& cases = request.cases;
  const auto store = flags.store.open_to_read();
  if (!store && store.error().code != ErrorCode::kNotFound) {
    return std::unexpected(store.error());
  }
  for (const auto& cell : cases) {
    std::int64_t past_ns = 0;
    if (store) {
      ASSAY_ASSIGN_OR_RETURN(past_ns, (*store)->past_duration_ns(case_key(cell)));
    }
    print_out("{}  {:<60} {}\n", case_key(cell).substr(0, 12), label_of(cell),
              past_ns == 0 ? "never run"
                           : "last time " + text_from_duration_ns(static_cast<double>(past_ns)));
  }
  print_out("{} case{}\n", cases.size(), cases.size() == 1 ? "" : "s");
  for (const auto& [cell, refusal] : extra_cases_of(request)) {
    print_out("evaluated only: {} on {}{}{}\n", label_of(cell), cell.engine_build,
              refusal.empty() ? "" : ": ", refusal);
  }
  return {};
}

/// A resumed run gets no cases that it did not begin with: those that --only left out, or those of
/// a file that has changed since.
Status keep_begun_cases(const Run& run, const CampaignFlags& flags, CampaignRequest& request) {
  ASSAY_ASSIGN_OR_RETURN(const auto store, flags.store.open());
  ASSAY_ASSIGN_OR_RETURN(const auto resumed, keep_cases_of_run(run.id, *store, request));
  if (resumed.lost > 0) {
    log_line(LogLevel::kWarning,
             fmt::format(
                 "{} of the run's {} cases cannot be resumed: a model file, an engine build or a "
                 "recipe has changed since",
                 resumed.lost, resumed.begun));
  }
  return {};
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

/// Runs the campaign; being asked to stop is no failure here: what was measured is reported.
Result<bool> run_to_end_or_stop(const CampaignRequest& request, ResultStore& store,
                                const CampaignFlags& flags) {
  Progress progress(flags.run.is_quiet);
  const ArtifactCache cache(assay_home() / "cache");
  const auto status =
      run_campaign(request, campaign_tools(store, cache, flags.toolchain, flags.device, progress));
  if (status) {
    return true;
  }
  if (is_interrupted()) {
    return false;
  }
  return std::unexpected(status.error());
}

Status write_bundles(const CampaignRequest& request, const RunSummary& summary,
                     const CampaignFlags& flags) {
  return write_layer_bundles({.cases = request.cases,
                              .folder = flags.bundle,
                              .libraries = request.context.settings.libraries,
                              .parallel_jobs = flags.toolchain.jobs,
                              .sandbox = request.context.settings.sandbox,
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

/// A run of which nothing could be made as it was asked for: its author is told what, and there is
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

}  // namespace

void CampaignFlags::declare(CLI::App& app) {
  report.declare(app);
  run.declare(app);
  device.declare(app);
  toolchain.declare(app);
  store.declare(app);
}

Result<ExitCode> execute_spec(const Spec& spec, const CampaignFlags& flags,
                              const std::optional<Run>& resumed) {
  ASSAY_RETURN_IF_ERROR(with_files_of_spec(flags.report, spec).check());
  if (flags.report.is_list()) {
    return ExitCode::kOk;
  }
  ASSAY_ASSIGN_OR_RETURN(auto request, plan_campaign(spec, flags));
  if (resumed) {
    ASSAY_RETURN_IF_ERROR(keep_begun_cases(*resumed, flags, request));
  }
  std::erase_if(request.cases,
                [&flags](const Case& cell) { return !is_wanted_case(cell, flags.run.only); });
  if (request.cases.empty()) {
    log_line(LogLevel::kError,
             "no case matched; `assay run --dry-run` lists the cases, `assay doctor` shows what is "
             "missing");
    return ExitCode::kNothingMatched;
  }
  ASSAY_RETURN_IF_ERROR(flags.report.check_baseline(recipes_of(request.cases)));
  if (flags.run.is_dry_run) {
    ASSAY_RETURN_IF_ERROR(print_campaign_plan(request, flags));
    return ExitCode::kOk;
  }
  ASSAY_ASSIGN_OR_RETURN(const auto store, flags.store.open());
  if (resumed) {
    request.context.run = *resumed;
    request.context.is_resumed = true;
  }
  ASSAY_ASSIGN_OR_RETURN(const bool is_done, run_to_end_or_stop(request, *store, flags));
  ASSAY_ASSIGN_OR_RETURN(const auto run, store->get_run(request.context.run.id));
  ASSAY_ASSIGN_OR_RETURN(const auto summary,
                         summarize_run(*store, run, {.baseline = baseline_of_run(run, flags)}));
  ASSAY_RETURN_IF_ERROR(refuse_wrong_requests(summary));
  auto report = flags.report;
  report.suggest_reports(run.id, flags.store);
  ASSAY_RETURN_IF_ERROR(report.write(summary, flags.has_accuracy_tables));
  if (is_done && !flags.bundle.empty()) {
    ASSAY_RETURN_IF_ERROR(write_bundles(request, summary, flags));
  }
  if (!is_done) {
    log_line(LogLevel::kInfo, fmt::format("stopped; resume with: assay run --resume {}", run.id));
    return ExitCode::kInterrupted;
  }
  return exit_code_from_summary(summary);
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
