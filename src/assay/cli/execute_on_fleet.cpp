#include "assay/cli/execute_on_fleet.h"

#include "features/fleet/artifact_store.h"
#include "features/fleet/choose_group.h"
#include "features/fleet/open_executor.h"
#include "features/fleet/run_on_fleet.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/artifact/cache.h"
#include "assay/artifact/toolchain.h"
#include "assay/base/fs.h"
#include "assay/base/log.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/request_from_spec.h"
#include "assay/cli/campaign_setup.h"
#include "assay/cli/device_flag.h"
#include "assay/cli/execute_spec.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/fleet_setup.h"
#include "assay/cli/plan_text.h"
#include "assay/cli/progress.h"
#include "assay/record/case.h"
#include "assay/record/run.h"
#include "assay/record/sandbox.h"
#include "assay/remote/device_choice.h"
#include "assay/spec/spec.h"
#include "assay/store/result_store.h"

namespace assay::cli {
namespace {

std::vector<std::string> asked_devices(const Spec& spec, const CampaignFlags& flags) {
  if (!flags.device.names().empty()) {
    return flags.device.names();
  }
  const bool is_default = spec.devices == std::vector<std::string>{kLocalDevice};
  return is_default ? std::vector<std::string>() : spec.devices;
}

/// Libraries lie on the driver's host only.
Status check_flags_for_fleet(const CampaignFlags& flags) {
  if (!flags.run.libraries.empty()) {
    return fail(ErrorCode::kUnsupported,
                "--library cannot be brought to the devices of a fleet yet; add an engine build "
                "with it on their hosts (assay engine add)");
  }
  if (!flags.bundle.empty()) {
    return fail(ErrorCode::kUnsupported,
                "this command works on devices of its own host only; "
                "leave out --executor");
  }
  return {};
}

std::size_t count_cases(const FleetRequest& request) {
  std::size_t cases = 0;
  for (const auto& group : request.groups) {
    cases += group.campaign.cases.size();
  }
  return cases;
}

/// Returns the keys of the cases that it drops.
std::set<std::string> drop_unwanted_cases(const std::string& only, FleetRequest& request) {
  std::set<std::string> dropped;
  for (auto& group : request.groups) {
    std::erase_if(group.campaign.cases, [&](const Case& cell) {
      const bool is_wanted = is_wanted_case(cell, only);
      if (!is_wanted) {
        dropped.insert(case_key(cell));
      }
      return !is_wanted;
    });
  }
  return dropped;
}

/// The filter that a run was started with: "--only TEXT" or "--only=TEXT"; empty: none.
std::string only_of(const Run& run) {
  constexpr std::string_view kFlag = "--only";
  for (std::size_t i = 0; i < run.argv.size(); ++i) {
    const std::string_view word = run.argv[i];
    if (word == kFlag && i + 1 < run.argv.size()) {
      return run.argv[i + 1];
    }
    if (word.starts_with("--only=")) {
      return std::string(word.substr(kFlag.size() + 1));
    }
  }
  return {};
}

/// A resumption that leaves out cases without a result does not end the run.
Status keep_run_open(const std::set<std::string>& dropped, ResultStore& store,
                     FleetRequest& request) {
  const auto& run = request.groups.front().campaign.context.run.id;
  ASSAY_ASSIGN_OR_RETURN(const auto cases, store.cases_of_run(run));
  auto open = dropped;
  for (const auto& cell : cases) {
    open.erase(case_key(cell));
  }
  for (auto& group : request.groups) {
    group.campaign.finishes_run = group.campaign.finishes_run && open.empty();
  }
  return {};
}

Plan fleet_plan_of(const FleetRequest& request) {
  Plan plan;
  for (const auto& group : request.groups) {
    for (const auto& cell : group.campaign.cases) {
      plan.cases.push_back(
          {.key = case_key(cell), .label = label_of(cell), .place = group.device.queue()});
    }
  }
  return plan;
}

Result<FleetEnd> drive(const FleetRequest& request, const CampaignFlags& flags,
                       const ConfiguredExecutor& executor, ResultStore& store) {
  Progress progress(flags.run.is_quiet,
                    flags.report.is_on_console() ? Reasons::kInReport : Reasons::kHere);
  const ArtifactCache cache(assay_home() / "cache");
  ASSAY_ASSIGN_OR_RETURN(
      const auto artifacts,
      open_artifact_store(request.artifact_store, default_python(flags.toolchain.python)));
  const auto tools =
      campaign_tools(store, cache, flags.toolchain, local_device(SandboxMode::kOff), progress);
  return run_on_fleet(request,
                      {.campaign = tools, .executor = *executor.executor, .artifacts = *artifacts});
}

void tell_end(const FleetEnd& end, const std::string& executor, const std::string& run) {
  for (const auto& open : end.open) {
    log_line(LogLevel::kError, fmt::format("{} has no result: {}", open.label, open.why));
  }
  if (end.late > 0) {
    log_line(LogLevel::kInfo,
             fmt::format("{} late result{} kept and not counted: assay fleet executions {}",
                         end.late, end.late == 1 ? " is" : "s are", run));
  }
  const auto resume = fmt::format("assay run --resume {} --executor {}", run, executor);
  if (end.is_stopped) {
    log_line(LogLevel::kInfo,
             fmt::format("stopped; the fleet goes on with {} case{}: take them in with {}, or take "
                         "them back with assay fleet cancel {} --executor {}",
                         end.waiting, end.waiting == 1 ? "" : "s", resume, run, executor));
  } else if (!end.open.empty()) {
    log_line(LogLevel::kInfo, "try the open cases again with: " + resume);
  }
}

}  // namespace

CampaignFlags flags_of_resumed(CampaignFlags flags, const Run& run) {
  const auto label = run.labels.find("executor");
  const bool is_from_fleet =
      label != run.labels.end() && std::ranges::find(run.argv, "--executor") != run.argv.end();
  if (flags.executor.empty() && is_from_fleet) {
    flags.executor = label->second;
  }
  return flags;
}

Result<FleetRequest> plan_on_fleet(Spec spec, const CampaignFlags& flags,
                                   const ConfiguredExecutor& executor,
                                   const std::optional<Run>& resumed, bool keeps_repeated) {
  ASSAY_RETURN_IF_ERROR(check_flags_for_fleet(flags));
  ASSAY_ASSIGN_OR_RETURN(const auto chosen,
                         choose_devices_of(*executor.executor, asked_devices(spec, flags)));
  spec.devices.clear();
  std::vector<PlannedDevice> planned;
  for (const auto& one : chosen) {
    spec.devices.push_back(one.planned.name);
    planned.push_back(one.planned);
  }
  spec.document["devices"] = spec.devices;
  ASSAY_ASSIGN_OR_RETURN(auto requests,
                         plan_on_described(spec, flags, std::move(planned), keeps_repeated));
  FleetRequest fleet{.groups = {},
                     .artifact_store = executor.artifact_store,
                     .job_deadline_ns = executor.job_deadline_ns,
                     .home = assay_home()};
  for (std::size_t i = 0; i < requests.size(); ++i) {
    auto& request = requests[i];
    request.context.run.labels["executor"] = executor.name;
    if (resumed) {
      request.context.run = *resumed;
      request.context.is_resumed = true;
    }
    fleet.groups.push_back({.campaign = std::move(request), .device = chosen[i].requirement});
  }
  return fleet;
}

Result<ExitCode> execute_on_fleet(const Spec& spec, const CampaignFlags& flags,
                                  const std::optional<Run>& resumed) {
  ASSAY_ASSIGN_OR_RETURN(const auto executor,
                         open_executor_named(flags.executor, flags.toolchain.python));
  ASSAY_ASSIGN_OR_RETURN(auto request, plan_on_fleet(spec, flags, executor, resumed));
  if (resumed) {
    drop_unwanted_cases(only_of(*resumed), request);
  }
  const auto dropped = drop_unwanted_cases(flags.run.only, request);
  if (count_cases(request) == 0) {
    log_line(LogLevel::kError, "no case matched; `assay run --dry-run` lists the cases");
    return ExitCode::kNothingMatched;
  }
  if (flags.run.is_dry_run) {
    const auto plan = fleet_plan_of(request);
    print_out("{}", plan_in_format(plan, flags.report.format));
    return ExitCode::kOk;
  }
  ASSAY_ASSIGN_OR_RETURN(const auto store, flags.store.open());
  const auto& run = request.groups.front().campaign.context.run.id;
  if (resumed) {
    ASSAY_RETURN_IF_ERROR(keep_run_open(dropped, *store, request));
  }
  ASSAY_ASSIGN_OR_RETURN(const auto end, drive(request, flags, executor, *store));
  ASSAY_ASSIGN_OR_RETURN(const auto summary, report_campaign(*store, run, flags));
  tell_end(end, executor.name, run);
  return end.is_stopped      ? ExitCode::kInterrupted
         : !end.open.empty() ? ExitCode::kUnavailable
                             : exit_code_from_summary(summary);
}

}  // namespace assay::cli
