#include "assay/cli/campaign_setup.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/artifact/cache.h"
#include "assay/artifact/toolchain.h"
#include "assay/artifact/toolchains.h"
#include "assay/base/clock.h"
#include "assay/base/enum_names.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/log.h"
#include "assay/base/result.h"
#include "assay/base/suggest.h"
#include "assay/base/units.h"
#include "assay/base/uuid.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/case_order.h"
#include "assay/campaign/listener.h"
#include "assay/cli/common_flags.h"
#include "assay/cli/interrupt.h"
#include "assay/cli/labels.h"
#include "assay/device/device_lock.h"
#include "assay/device/environment.h"
#include "assay/device/local_transport.h"
#include "assay/engine/installed_builds.h"
#include "assay/record/run.h"
#include "assay/record/sandbox.h"
#include "assay/record/subject.h"
#include "assay/spec/expand.h"
#include "assay/spec/program_format.h"
#include "assay/spec/spec.h"
#include "assay/store/result_store.h"
#include "assay/supervise/agent_client.h"

namespace assay::cli {
namespace {

std::vector<std::string>& remembered_argv() {
  static std::vector<std::string> argv;
  return argv;
}

void tell_refused(const Expansion& expansion) {
  for (const auto& warning : expansion.warnings) {
    log_line(LogLevel::kWarning, warning);
  }
  for (const auto& refused : expansion.refused) {
    log_line(LogLevel::kInfo,
             fmt::format("skipped {} combination(s): {} {} on {}: {}", refused.cells, refused.model,
                         refused.recipe, refused.engine, refused.reason));
  }
}

Result<std::int64_t> launch_timeout_from(const std::string& text) {
  if (text.empty()) {
    return 0;
  }
  ASSAY_ASSIGN_OR_RETURN(const auto timeout_ns, duration_ns_from_text(text));
  if (timeout_ns == 0) {
    return fail(ErrorCode::kInvalidArgument, "--launch-timeout must be greater than 0");
  }
  return timeout_ns;
}

/// The flag's, else the spec's.
Result<std::optional<SandboxMode>> sandbox_from(const std::string& text, const Spec& spec) {
  if (text.empty()) {
    return spec.sandbox;
  }
  auto mode = enum_from_name<SandboxMode>(text);
  if (!mode) {
    return fail(ErrorCode::kInvalidArgument, "--sandbox: " + mode.error().message);
  }
  return std::optional(*mode);
}

Result<CampaignSettings> campaign_settings(const Spec& spec, const CampaignFlags& flags) {
  ASSAY_ASSIGN_OR_RETURN(const auto sandbox, sandbox_from(flags.run.sandbox, spec));
  ASSAY_ASSIGN_OR_RETURN(const auto timeout_ns, launch_timeout_from(flags.run.launch_timeout));
  return CampaignSettings{
      .plan = spec.measure.plan,
      .launches = {.least = spec.measure.launches,
                   .most = spec.measure.interval_ratio > 0 ? spec.measure.most_launches
                                                           : spec.measure.launches,
                   .interval_ratio = spec.measure.interval_ratio,
                   .budget_ns = spec.measure.case_budget_ns,
                   .adapts_iterations = spec.measure.adapts_iterations},
      .leak_loads = spec.measure.leak_check.loads,
      .leak_inferences = spec.measure.leak_check.inferences,
      .passes = spec.measure.passes,
      .against = spec.evaluate.against,
      .has_parity = spec.evaluate.has_parity,
      .tolerance = spec.evaluate.tolerance,
      .parallel_jobs = flags.toolchain.jobs,
      .is_rebuild = flags.run.is_rebuild,
      .launch_timeout_ns = timeout_ns,
      .memory_limit_bytes = static_cast<std::int64_t>(flags.run.memory_limit_bytes),
      .libraries = flags.run.libraries,
      .sandbox = sandbox};
}

std::vector<std::string> references_in(const std::vector<SpecEngine>& engines) {
  std::vector<std::string> references(engines.size());
  std::ranges::transform(engines, references.begin(), &SpecEngine::reference);
  return references;
}

/// A library's engine is one that there is.
Status check_libraries(const std::vector<std::string>& libraries,
                       const std::vector<EngineBuild>& installed) {
  auto known = known_engine_names();
  for (const auto& build : installed) {
    known.push_back(build.name);
  }
  for (const auto& library : libraries) {
    const std::string engine(engine_of_library(library));
    if (!engine.empty() && std::ranges::find(known, engine) == known.end()) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("--library {}: unknown engine '{}'{}; write ENGINE=FILE, or ./{} for "
                              "a file of that name",
                              library, engine, suggestion_for(engine, known), library));
    }
  }
  return {};
}

/// A folder has a slash behind it, so that a dot in its name is no ending.
std::string text_of_samples(const std::string& path) {
  return std::filesystem::is_directory(path) ? path + "/" : path;
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
      entry["inputs"] = text_of_samples(model.input_file);
    }
    if (!model.expected_file.empty()) {
      entry["expected"] = text_of_samples(model.expected_file);
    }
    if (!model.calibration_file.empty()) {
      entry["calibration"] = model.calibration_file;
    }
  }
  if (const auto beside = spec.scenario.find("beside"); beside != spec.scenario.end()) {
    document["scenario"]["beside"] = Json::array();
    for (const auto& path : beside->second) {
      document["scenario"]["beside"].push_back(path.is_null() ? Json("none") : path);
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
          .environment_key = environment_key(environment),
          .started_unix_ns = unix_time_ns()};
  ASSAY_ASSIGN_OR_RETURN(auto labels, labels_from_texts(flags.run.labels, "--label"));
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

}  // namespace

void remember_argv(int argc, char** argv) { remembered_argv().assign(argv, argv + argc); }

Result<CampaignRequest> plan_campaign(const Spec& spec, const CampaignFlags& flags,
                                      bool keeps_repeated) {
  ASSAY_ASSIGN_OR_RETURN(auto settings, campaign_settings(spec, flags));
  flags.toolchain.apply();
  auto environment = read_environment();
  auto installed = find_installed_builds(assay_home());
  ASSAY_RETURN_IF_ERROR(check_search(installed, references_in(spec.engines)));
  ASSAY_RETURN_IF_ERROR(check_libraries(flags.run.libraries, installed.builds));
  ASSAY_ASSIGN_OR_RETURN(auto expansion,
                         expand(spec, {.device_class = environment.device_class,
                                       .installed = installed.builds,
                                       .keeps_repeated = keeps_repeated,
                                       .has_plugins = !flags.toolchain.plugin_files().empty()}));
  tell_refused(expansion);
  ASSAY_ASSIGN_OR_RETURN(auto run, new_run(spec, flags, environment));
  return CampaignRequest{.run = std::move(run),
                         .environment = std::move(environment),
                         .cases = std::move(expansion.cases),
                         .builds = std::move(installed.builds),
                         .settings = std::move(settings)};
}

CampaignTools local_tools(ResultStore& store, const ArtifactCache& cache,
                          const ToolchainFlags& flags, CampaignListener& listener) {
  return {.store = store,
          .cache = cache,
          .toolchain_of = toolchains_of(default_python(flags.python)),
          .connect_agent = connect_local_agent,
          .lock_device = lock_local_device,
          .listener = listener};
}

}  // namespace assay::cli
