#include "features/conform/conform.h"
#include "features/conform/conform_case.h"
#include "features/conform/conform_options.h"
#include "features/conform/gap_lists.h"
#include "features/conform/known_gaps.h"
#include "features/conform/operator_names.h"
#include "features/conform/plan.h"

#include <cstddef>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/artifact/aot_servers.h"
#include "assay/artifact/cache.h"
#include "assay/base/enum_names.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/log.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/cli/campaign_setup.h"
#include "assay/cli/conform_flags.h"
#include "assay/cli/conform_report.h"
#include "assay/cli/device_flag.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/fleet_setup.h"
#include "assay/cli/interrupt.h"
#include "assay/cli/one_device_campaign.h"
#include "assay/cli/progress.h"
#include "assay/cli/tell_takeover.h"
#include "assay/cli/verb.h"
#include "assay/record/axes.h"
#include "assay/record/conformance.h"
#include "assay/record/run.h"
#include "assay/remote/device_choice.h"
#include "assay/store/result_store.h"
#include "assay/store/stored_conformance.h"

namespace assay::cli {
namespace {

constexpr const char* kConformSchema = "assay/conform/1";

struct ConformVerbOptions {
  ConformOptions what;
  CampaignFlags flags;
  std::string known_folder;
  std::string against_run;
  std::string resume;
  bool updates_known = false;
  bool shows_coverage = false;
};

/// The options that a run to be resumed was started with; the given ones otherwise, with the run
/// that they name by its id.
Result<ConformOptions> options_of(const ConformVerbOptions& options,
                                  const std::optional<Run>& resumed, ResultStore& store) {
  if (!resumed) {
    auto what = options.what;
    keep_flags(options.flags.run, options.known_folder, what);
    if (!what.changed_since.empty()) {
      ASSAY_ASSIGN_OR_RETURN(const auto run, get_conform_run(store, what.changed_since));
      what.changed_since = run.id;
    }
    return what;
  }
  if (resumed->purpose != "conform" || !resumed->spec.is_object()) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("run {0} was not created by `assay conform`; use `assay run --resume {0}`",
                    resumed->id));
  }
  return resumed->spec.get<ConformOptions>();
}

Result<std::optional<Run>> run_to_resume(const ConformVerbOptions& options, ResultStore& store) {
  if (options.resume.empty()) {
    return std::optional<Run>();
  }
  ASSAY_ASSIGN_OR_RETURN(auto run, get_conform_run(store, options.resume));
  return std::optional(std::move(run));
}

/// A run goes on where it began. Errors: kInvalidArgument, with the flag that is needed.
Status check_same_device(const Run& resumed, const Run& planned) {
  const auto device_of = [](const Run& run) {
    const auto found = run.labels.find("device");
    return found == run.labels.end() ? std::string(kLocalDevice) : found->second;
  };
  if (device_of(resumed) == device_of(planned)) {
    return {};
  }
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("run {} was on device '{}'; add --device {}", resumed.id,
                          device_of(resumed), device_of(resumed)));
}

/// The campaign with a case for each setting, which stand for all cases.
Result<OneDeviceCampaign> campaign_of(const ConformOptions& what, const ConformVerbOptions& options,
                                      const std::optional<Run>& resumed, ResultStore& store) {
  ASSAY_ASSIGN_OR_RETURN(const auto context, options.flags.toolchain.context("assay conform"));
  ASSAY_ASSIGN_OR_RETURN(const auto spec, spec_from_conform_options(what, context));
  ASSAY_ASSIGN_OR_RETURN(auto planned, plan_on_one_device(spec, options.flags));
  auto& campaign = planned.request;
  for (const auto& cell : campaign.cases) {
    if (!cell.recipe.runtime_unavailable.empty()) {
      return fail(ErrorCode::kUnavailable,
                  fmt::format("{} can be lowered but not run here: {}", cell.recipe.name,
                              cell.recipe.runtime_unavailable));
    }
  }
  if (campaign.cases.empty()) {
    return fail(ErrorCode::kUnavailable,
                "no recipe can run here; `assay doctor` shows what is missing");
  }
  ASSAY_ASSIGN_OR_RETURN(campaign.context.settings.job_timeout_ns, what.job_timeout_ns());
  if (campaign.context.settings.launch_timeout_ns == 0) {
    campaign.context.settings.launch_timeout_ns = what.launch_timeout_ns();
  }
  campaign.context.run.purpose = "conform";
  campaign.context.run.spec = Json(what);
  campaign.context.run.spec["schema"] = kConformSchema;
  campaign.context.run.spec_digest = digest_of_json(campaign.context.run.spec);
  if (resumed) {
    ASSAY_RETURN_IF_ERROR(check_same_device(*resumed, campaign.context.run));
    if (options.flags.executor.empty()) {  // A fleet counts what its drivers do once.
      ASSAY_RETURN_IF_ERROR(
          tell_takeover(*resumed, store,
                        {.machines = {{campaign.context.device, campaign.context.environment}},
                         .is_run_named = options.resume != kNewestRun,
                         .command = "assay conform --resume"}));
    }
    campaign.context.run = *resumed;
    campaign.context.is_resumed = true;
  }
  return planned;
}

Delegation required_delegation(const ConformOptions& what) {
  return find_enum<Delegation>(what.require_delegation).value_or(Delegation::kNone);
}

bool is_narrowed(const ConformOptions& what, const ConformVerbOptions& options) {
  return what.tier != "full" || !what.match.empty() || !what.dtypes.empty() ||
         !what.shard.empty() || !options.flags.run.only.empty();
}

Result<CaseListing> listing_of(const ConformOptions& what, const ConformVerbOptions& options,
                               const CampaignTools& tools) {
  ASSAY_ASSIGN_OR_RETURN(auto listing,
                         list_cases(what.selection(), options.flags.toolchain.jobs, tools));
  ASSAY_ASSIGN_OR_RETURN(listing.cases, what.share_of(listing.cases));
  const auto& only = options.flags.run.only;
  std::erase_if(listing.cases, [&only](const ConformCase& one) {
    return !only.empty() && one.name.find(only) == std::string::npos;
  });
  return listing;
}

Status check_count(const ConformOptions& what, const ConformRequest& request) {
  const auto results = request.listing.cases.size() * request.settings.size();
  return results <= static_cast<std::size_t>(what.max_results)
             ? Status()
             : fail(
                   ErrorCode::kInvalidArgument,
                   fmt::format("{} results (cases: {}, settings: {}) exceed the limit of {}; "
                               "narrow them with --match, --dtype, --shard{}, or raise --max-cases",
                               results, request.listing.cases.size(), request.settings.size(),
                               what.max_results,
                               what.expand == "full" && request.settings.size() > 2
                                   ? " or --expand pairwise"
                                   : ""));
}

ExitCode print_conform_plan(const ConformRequest& request) {
  const auto plan = plan_conformance(request.listing.cases, request.settings, request.limits);
  for (const auto& unit : plan.units) {
    const auto& first = plan.cells[unit.cells.front()];
    print_out("{} {}{}\n", first.eval_case.recipe.name, unit.is_joint() ? "joint" : "alone",
              unit.is_joint() ? fmt::format(" ({})", unit.cells.size()) : "");
    for (const auto index : unit.cells) {
      print_out("    {}\n", plan.cases[plan.cells[index].case_index].name);
    }
  }
  print_out("{} cases, {} results, {} programs\n", plan.cases.size(), plan.cells.size(),
            plan.units.size());
  return ExitCode::kOk;
}

Status update_known(const ConformRequest& request, const std::filesystem::path& folder,
                    ConformReport& report) {
  if (folder.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "--update-known: found no folder with lists of known gaps; pass --known FOLDER");
  }
  ASSAY_ASSIGN_OR_RETURN(const auto counts, update_known_gaps(request.settings, folder, report));
  for (const auto& [recipe, count] : counts) {
    log_line(LogLevel::kInfo, fmt::format("{}: {} known failures", recipe, count));
  }
  return {};
}

Result<ExitCode> run(const ConformRequest& request, const ConformVerbOptions& options,
                     const std::filesystem::path& folder, const CampaignTools& tools,
                     const ExecuteCases& execute) {
  ASSAY_ASSIGN_OR_RETURN(auto report, run_conformance(request, tools, execute));
  const bool is_stopped = is_interrupted();
  if (options.updates_known && !is_stopped) {
    ASSAY_RETURN_IF_ERROR(update_known(request, folder, report));
  }
  auto flags = options.flags.report;
  flags.suggest_reports(report.run.id, options.flags.store);
  ASSAY_RETURN_IF_ERROR(write_conformance_report(flags, report));
  if (is_stopped) {
    log_line(
        LogLevel::kInfo,
        fmt::format("stopped; resume with: assay conform --resume {}{}", report.run.id,
                    options.flags.executor.empty() ? "" : " --executor " + options.flags.executor));
    return ExitCode::kInterrupted;
  }
  return exit_code_from_conformance(report);
}

/// Prints the coverage of the suite; nothing is made or run.
Result<ExitCode> show_coverage(const ConformOptions& what, const ConformVerbOptions& options,
                               const CampaignTools& tools) {
  auto selection = what.selection();
  selection.tier = "quick";
  ASSAY_ASSIGN_OR_RETURN(const auto listing,
                         list_cases(selection, options.flags.toolchain.jobs, tools));
  ASSAY_RETURN_IF_ERROR(write_coverage_report(options.flags.report, listing.coverage));
  return listing.coverage.empty() ? ExitCode::kNothingMatched : ExitCode::kOk;
}

/// True if each pattern may fit a case, as far as that is known before a toolchain starts.
bool may_match(const ConformOptions& what) {
  if (what.suite != "operators") {
    return true;
  }
  bool may = true;
  for (const auto& pattern : what.match) {
    if (const auto advice = advice_on_pattern(pattern); !advice.empty()) {
      log_line(LogLevel::kError, "--match: " + advice);
      may = false;
    }
  }
  return may;
}

Result<ExitCode> execute_conform(ConformVerbOptions options) {
  ASSAY_RETURN_IF_ERROR(options.flags.report.check());
  if (options.flags.report.is_list()) {
    return ExitCode::kOk;
  }
  if (!may_match(options.what)) {
    return ExitCode::kNothingMatched;
  }
  ASSAY_ASSIGN_OR_RETURN(const auto store, options.flags.store.open());
  ASSAY_ASSIGN_OR_RETURN(const auto resumed, run_to_resume(options, *store));
  ASSAY_ASSIGN_OR_RETURN(const auto what, options_of(options, resumed, *store));
  restore_flags(what, options.flags.run, options.known_folder);
  Progress progress(options.flags.run.is_quiet);
  const ArtifactCache cache(assay_home() / "cache");
  AotServers servers;
  auto tools =
      campaign_tools(*store, cache, options.flags.toolchain, options.flags.device, progress);
  tools.servers = &servers;
  if (options.shows_coverage) {
    return show_coverage(what, options, tools);
  }
  ConformRequest request{.limits = {.cases = static_cast<std::size_t>(what.batch)},
                         .suite = what.suite,
                         .tier = what.tier,
                         .shard = what.shard,
                         .required_delegation = required_delegation(what),
                         .changed_since = what.changed_since,
                         .earlier_run = options.against_run};
  ASSAY_ASSIGN_OR_RETURN(const auto planned, campaign_of(what, options, resumed, *store));
  const auto& campaign = planned.request;
  request.context = campaign.context;
  ASSAY_ASSIGN_OR_RETURN(request.listing, listing_of(what, options, tools));
  const std::filesystem::path folder =
      options.known_folder.empty() ? request.listing.known_gaps_folder : options.known_folder;
  const GapContext gap_context{
      .is_delegation_required = required_delegation(what) != Delegation::kNone,
      .is_narrowed = is_narrowed(what, options),
      .is_drawn = what.tier == "fuzz",
      .processor_flags = campaign.context.environment.cpu_flags};
  ASSAY_ASSIGN_OR_RETURN(request.settings,
                         settings_from_cases(campaign.cases, folder, gap_context));
  if (request.listing.cases.empty()) {
    log_line(LogLevel::kError, "no case matched; check --match, --dtype, --shard and --only");
    return ExitCode::kNothingMatched;
  }
  ASSAY_RETURN_IF_ERROR(check_count(what, request));
  return options.flags.run.is_dry_run ? Result<ExitCode>(print_conform_plan(request))
                                      : run(request, options, folder, tools, planned.execute);
}

}  // namespace

Execute declare_conform(CLI::App& app) {
  auto options = std::make_shared<ConformVerbOptions>();
  declare_conform_options(app, options->what);
  app.add_option("--known", options->known_folder,
                 "Folder with the lists of known gaps [default: that of the Python package]");
  app.add_flag("--update-known", options->updates_known,
               "Rewrite the lists of known gaps: remove cases that pass, add cases that fail");
  app.add_flag(
      "--coverage", options->shows_coverage,
      "Print the number of cases of each operator, or why it has none, without running them");
  app.add_option(
      "--against-run", options->against_run,
      "Compare verdicts with this run [default: the newest run with a recipe in common]");
  app.add_option("--resume", options->resume, "Resume a stopped run, by id or latest")
      ->expected(0, 1)
      ->default_str("latest");
  options->flags.report.declare_targets(app);
  options->flags.run.declare(app);
  options->flags.device.declare(app);
  declare_executor(app, options->flags.executor);
  options->flags.toolchain.declare(app);
  options->flags.store.declare(app);
  return [options] { return execute_conform(*options); };
}

}  // namespace assay::cli
