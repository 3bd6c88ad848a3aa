#include "assay/cli/execute_spec.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "assay/artifact/cache.h"
#include "assay/artifact/toolchain.h"
#include "assay/base/clock.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/log.h"
#include "assay/base/result.h"
#include "assay/base/units.h"
#include "assay/base/uuid.h"
#include "assay/campaign/campaign.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/interrupt.h"
#include "assay/cli/progress.h"
#include "assay/device/device_lock.h"
#include "assay/device/environment.h"
#include "assay/device/local_transport.h"
#include "assay/engine/installed_builds.h"
#include "assay/record/case.h"
#include "assay/record/run.h"
#include "assay/spec/expand.h"
#include "assay/spec/spec.h"
#include "assay/summary/summarize.h"
#include "assay/supervise/agent_client.h"

namespace assay::cli {
namespace {

std::vector<std::string>& remembered_argv() {
  static std::vector<std::string> argv;
  return argv;
}

bool is_wanted(const Case& cell, const std::string& only) {
  return only.empty() || label_of(cell).find(only) != std::string::npos ||
         case_key(cell).starts_with(only);
}

void tell_refused(const Expansion& expansion) {
  for (const auto& warning : expansion.warnings) {
    log_line(LogLevel::kWarning, warning);
  }
  for (const auto& refused : expansion.refused) {
    log_line(LogLevel::kInfo,
             fmt::format("not a case ({}): {} {} on {}: {}", refused.cells, refused.model,
                         refused.recipe, refused.engine, refused.reason));
  }
}

Status print_plan(const std::vector<Case>& cases, const CampaignFlags& flags) {
  ASSAY_ASSIGN_OR_RETURN(const auto store, flags.store.open());
  for (const auto& cell : cases) {
    ASSAY_ASSIGN_OR_RETURN(const auto past_ns, store->past_duration_ns(case_key(cell)));
    fmt::print("{}  {:<60} {}\n", case_key(cell).substr(0, 12), label_of(cell),
               past_ns == 0 ? "never run"
                            : "last time " + text_from_duration_ns(static_cast<double>(past_ns)));
  }
  fmt::print("{} case{}\n", cases.size(), cases.size() == 1 ? "" : "s");
  return {};
}

/// A resumed run gets no cases that it did not begin with: those that --only left out, or those of
/// a file that has changed since. A run without attempts may have died while it listed its cases.
Status keep_cases_of_run(const Run& run, const CampaignFlags& flags, std::vector<Case>& cases) {
  ASSAY_ASSIGN_OR_RETURN(const auto store, flags.store.open());
  ASSAY_ASSIGN_OR_RETURN(const auto attempts, store->attempts_of_run(run.id));
  if (attempts.empty()) {
    return {};
  }
  ASSAY_ASSIGN_OR_RETURN(const auto begun, store->cases_of_run(run.id));
  const auto name_of_cell = [](const Case& cell) { return case_key(cell) + cell.engine_build; };
  std::set<std::string> names;
  std::ranges::transform(begun, std::inserter(names, names.end()), name_of_cell);
  std::erase_if(cases, [&](const Case& cell) { return names.erase(name_of_cell(cell)) == 0; });
  if (!names.empty()) {
    log_line(
        LogLevel::kWarning,
        fmt::format("{} of the run's {} cases cannot go on: a model file, an engine build or a "
                    "recipe has changed since",
                    names.size(), begun.size()));
  }
  return {};
}

Result<std::map<std::string, std::string>> labels_from(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> labels;
  for (const auto& text : texts) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      return fail(ErrorCode::kInvalidArgument, fmt::format("--label {}: write key=value", text));
    }
    labels[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return labels;
}

Result<std::int64_t> launch_timeout_from(const std::string& text) {
  if (text.empty()) {
    return 0;
  }
  ASSAY_ASSIGN_OR_RETURN(const auto timeout_ns, duration_ns_from_text(text));
  if (timeout_ns == 0) {
    return fail(ErrorCode::kInvalidArgument, "--launch-timeout: no launch takes no time at all");
  }
  return timeout_ns;
}

Result<CampaignSettings> settings_of(const Spec& spec, const CampaignFlags& flags) {
  ASSAY_ASSIGN_OR_RETURN(const auto timeout_ns, launch_timeout_from(flags.run.launch_timeout));
  return CampaignSettings{
      .plan = spec.measure.plan,
      .timing_launches = spec.measure.launches,
      .passes = spec.measure.passes,
      .against = spec.evaluate.against,
      .tolerance = spec.evaluate.tolerance,
      .parallel_jobs = flags.toolchain.jobs,
      .is_rebuild = flags.run.is_rebuild,
      .launch_timeout_ns = timeout_ns,
      .memory_limit_bytes = static_cast<std::int64_t>(flags.run.memory_limit_bytes),
      .libraries = flags.run.libraries};
}

/// The spec with its files by absolute path: a resumed run finds them from any folder.
Json resumable_document(const Spec& spec) {
  Json document = spec.document;
  auto& entries = document["models"];
  for (std::size_t i = 0; i < spec.models.size(); ++i) {
    const auto& model = spec.models[i];
    auto& entry = entries[i];
    (entry.is_object() ? entry["ref"] : entry) = model.model.ref;
    if (!model.input_file.empty()) {
      entry["inputs"] = model.input_file;
    }
  }
  return document;
}

Result<Run> new_run(const Spec& spec, const CampaignFlags& flags, const Environment& environment) {
  Run run{.id = make_uuid7(),
          .name = spec.name,
          .labels = spec.labels,
          .seed = spec.seed,
          .argv = remembered_argv(),
          .spec_digest = spec.digest,
          .spec = resumable_document(spec),
          .environment = environment.id,
          .started_unix_ns = unix_time_ns()};
  ASSAY_ASSIGN_OR_RETURN(auto labels, labels_from(flags.run.labels));
  labels.merge(run.labels);
  run.labels = std::move(labels);
  return run;
}

Result<std::shared_ptr<void>> lock_local_device() {
  bool is_told = false;
  const auto keep_waiting = [&is_told](const std::string& holder) {
    if (!std::exchange(is_told, true)) {
      log_line(LogLevel::kInfo, "waiting for the device: " + holder);
    }
    return !is_interrupted();
  };
  ASSAY_ASSIGN_OR_RETURN(auto lock, DeviceLock::acquire("local", {.keep_waiting = keep_waiting}));
  return std::make_shared<DeviceLock>(std::move(lock));
}

Result<AgentClient> connect_local_agent() {
  LocalTransport transport;
  return AgentClient::connect(transport);
}

/// Runs the campaign; being asked to stop is no failure here: what was measured is reported.
Result<bool> run_to_end_or_stop(const CampaignRequest& request, ResultStore& store,
                                const CampaignFlags& flags) {
  Progress progress(flags.run.is_quiet);
  const ArtifactCache cache(assay_home() / "cache");
  const CampaignTools tools{
      .store = store,
      .cache = cache,
      .toolchain = [&flags] { return query_toolchain(default_python(flags.toolchain.python)); },
      .connect_agent = connect_local_agent,
      .lock_device = lock_local_device,
      .listener = progress};
  const auto status = run_campaign(request, tools);
  if (status) {
    return true;
  }
  if (is_interrupted()) {
    return false;
  }
  return std::unexpected(status.error());
}

}  // namespace

void remember_argv(int argc, char** argv) { remembered_argv().assign(argv, argv + argc); }

void CampaignFlags::declare(CLI::App& app) {
  report.declare(app);
  run.declare(app);
  toolchain.declare(app);
  store.declare(app);
}

Result<ExitCode> execute_spec(const Spec& spec, const CampaignFlags& flags,
                              const std::optional<Run>& resumed) {
  ASSAY_RETURN_IF_ERROR(flags.report.check());
  if (flags.report.format == "list") {
    return ExitCode::kOk;
  }
  ASSAY_ASSIGN_OR_RETURN(const auto settings, settings_of(spec, flags));
  flags.toolchain.apply();
  const auto environment = read_environment();
  const auto installed = find_installed_builds(assay_home());
  ASSAY_ASSIGN_OR_RETURN(auto expansion,
                         expand(spec, {.device_class = environment.device_class,
                                       .installed = installed.builds,
                                       .has_plugins = !flags.toolchain.plugins.empty()}));
  tell_refused(expansion);
  if (resumed) {
    ASSAY_RETURN_IF_ERROR(keep_cases_of_run(*resumed, flags, expansion.cases));
  }
  std::erase_if(expansion.cases,
                [&flags](const Case& cell) { return !is_wanted(cell, flags.run.only); });
  if (expansion.cases.empty()) {
    log_line(LogLevel::kError,
             "no case matched; assay run --dry-run lists them, assay doctor says what is missing");
    return ExitCode::kNothingMatched;
  }
  if (flags.run.is_dry_run) {
    ASSAY_RETURN_IF_ERROR(print_plan(expansion.cases, flags));
    return ExitCode::kOk;
  }
  ASSAY_ASSIGN_OR_RETURN(const auto store, flags.store.open());
  ASSAY_ASSIGN_OR_RETURN(auto run,
                         resumed ? Result<Run>(*resumed) : new_run(spec, flags, environment));
  const CampaignRequest request{.run = run,
                                .environment = environment,
                                .cases = expansion.cases,
                                .builds = installed.builds,
                                .settings = settings,
                                .is_resumed = resumed.has_value()};
  ASSAY_ASSIGN_OR_RETURN(const bool is_done, run_to_end_or_stop(request, *store, flags));
  ASSAY_ASSIGN_OR_RETURN(run, store->get_run(run.id));
  ASSAY_ASSIGN_OR_RETURN(
      const auto summary,
      summarize_run(
          *store, run,
          {.baseline = flags.report.baseline.empty() ? spec.baseline : flags.report.baseline}));
  ASSAY_RETURN_IF_ERROR(flags.report.write(summary, flags.has_accuracy_tables));
  if (!is_done) {
    log_line(LogLevel::kInfo, fmt::format("stopped; go on with: assay run --resume {}", run.id));
    return ExitCode::kInterrupted;
  }
  return exit_code_from_summary(summary);
}

}  // namespace assay::cli
