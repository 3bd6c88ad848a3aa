#include "assay/campaign/request_from_spec.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/suggest.h"
#include "assay/base/uuid.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/case_launch.h"
#include "assay/campaign/option_check.h"
#include "assay/campaign/run_context.h"
#include "assay/engine/installed_builds.h"
#include "assay/record/case.h"
#include "assay/record/core_names.h"
#include "assay/record/device_trace.h"
#include "assay/record/run.h"
#include "assay/record/subject.h"
#include "assay/spec/expand.h"
#include "assay/spec/program_format.h"
#include "assay/spec/spec.h"

namespace assay {
namespace {

/// Devices are read once a second unless it is said otherwise. Both texts were checked before.
std::optional<std::int64_t> sensors_period(const Spec& spec, const RequestOptions& options,
                                           const std::string& device) {
  const auto period_ns =
      sensors_period_from_text(options.sensors.empty() ? spec.measure.sensors : options.sensors)
          .value_or(std::nullopt);
  return period_ns || device == "local" ? period_ns : std::optional(kSensorsPeriodNs);
}

CampaignSettings settings_from_spec(const Spec& spec, const RequestOptions& options,
                                    const PlannedDevice& device) {
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
      .parallel_jobs = options.parallel_jobs,
      .is_rebuild = options.is_rebuild,
      .launch_timeout_ns = options.launch_timeout_ns,
      .job_timeout_ns = options.job_timeout_ns,
      .memory_limit_bytes = options.memory_limit_bytes,
      .libraries = options.libraries,
      .meter = device.meter,
      .sensors_period_ns = sensors_period(spec, options, device.name),
      .sandbox = options.sandbox ? options.sandbox : spec.sandbox};
}

std::vector<std::string> references_in(const std::vector<SpecEngine>& engines) {
  std::vector<std::string> references(engines.size());
  std::ranges::transform(engines, references.begin(), &SpecEngine::reference);
  return references;
}

/// A library's engine is one that there is, and so is its file.
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
    const auto file = library.substr(engine.empty() ? 0 : engine.size() + 1);
    if (!std::filesystem::exists(file)) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("--library {}: there is no file '{}'", library, file));
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
  for (std::size_t i = 0; i < spec.models.size(); ++i) {
    const auto& model = spec.models[i];
    auto& entry = document["models"][i];
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

Run new_run(const Spec& spec, RequestOptions& options, const Environment& environment) {
  Run run{.id = make_uuid7(),
          .name = spec.name,
          .labels = std::move(options.labels),
          .seed = spec.seed,
          .argv = std::move(options.argv),
          .spec_digest = spec.digest,
          .spec = resumable_document(spec),
          .environment = environment.id,
          .environment_key = environment_key(environment),
          .started_unix_ns = unix_time_ns()};
  run.labels.insert(spec.labels.begin(), spec.labels.end());
  return run;
}

/// Errors: kInvalidArgument for cores by a name that the machine does not have.
Status check_cores(const Spec& spec, const Environment& environment) {
  const auto asked = spec.scenario.find("cores");
  if (asked == spec.scenario.end()) {
    return {};
  }
  for (const auto& cores : asked->second) {
    if (cores.is_string() && is_core_name(cores.get<std::string>())) {
      ASSAY_RETURN_IF_ERROR(cores_on_machine(cores.get<std::string>(), environment));
    }
  }
  return {};
}

/// Adds to each cell that lacks its engine how to get it, as far as its device tells.
void tell_how_to_get(const std::vector<PlannedDevice>& devices, std::vector<RefusedCell>& refused) {
  for (auto& cell : refused) {
    const auto device = std::ranges::find(devices, cell.device, &PlannedDevice::name);
    if (device == devices.end() || !cell.reason.starts_with("unavailable: ")) {
      continue;
    }
    const auto& missing = device->installed.missing;
    const auto name = cell.engine.substr(0, cell.engine.find('@'));
    auto found = std::ranges::find(missing, cell.engine, &MissingEngine::name);
    if (found == missing.end()) {
      found = std::ranges::find(missing, name, &MissingEngine::name);
    }
    cell.reason += found == missing.end() ? "" : "; " + found->reason;
  }
}

}  // namespace

Status check_engines_found(const Spec& spec, const InstalledBuilds& installed) {
  return check_search(installed, references_in(spec.engines));
}

Result<PlannedRequests> requests_from_spec(const Spec& spec, RequestOptions options,
                                           std::vector<PlannedDevice> devices) {
  ExpansionContext context{.devices = {},
                           .keeps_repeated = options.keeps_repeated,
                           .has_plugins = options.has_plugins,
                           .has_libraries = !options.libraries.empty()};
  std::vector<EngineBuild> installed;
  for (const auto& device : devices) {
    ASSAY_RETURN_IF_ERROR(check_engines_found(spec, device.installed));
    ASSAY_RETURN_IF_ERROR(check_cores(spec, device.environment));
    std::ranges::copy(device.installed.builds, std::back_inserter(installed));
    context.devices.push_back({.name = device.name,
                               .device_class = device.environment.device_class,
                               .installed = device.installed.builds});
  }
  ASSAY_RETURN_IF_ERROR(check_libraries(options.libraries, installed));
  ASSAY_ASSIGN_OR_RETURN(
      auto expansion, spec.models.empty() ? expand_settings(spec, context) : expand(spec, context));
  if (const auto checked = check_engine_options(expansion.cases, installed); !checked) {
    return fail_with_context(checked.error(), spec.origin);
  }
  const auto run = new_run(spec, options, devices.front().environment);
  PlannedRequests planned{.requests = {},
                          .refused = std::move(expansion.refused),
                          .warnings = std::move(expansion.warnings)};
  tell_how_to_get(devices, planned.refused);
  for (auto& device : devices) {
    auto& request = planned.requests.emplace_back(
        CampaignRequest{.context = {.run = run,
                                    .device = device.name,
                                    .environment = std::move(device.environment),
                                    .builds = std::move(device.installed.builds),
                                    .settings = settings_from_spec(spec, options, device)}});
    std::ranges::copy_if(expansion.cases, std::back_inserter(request.cases),
                         [&](const Case& cell) { return cell.device == device.name; });
  }
  return planned;
}

Result<PlannedRequest> request_from_spec(const Spec& spec, RequestOptions options,
                                         PlannedDevice device) {
  std::vector<PlannedDevice> devices;
  devices.push_back(std::move(device));
  ASSAY_ASSIGN_OR_RETURN(auto planned,
                         requests_from_spec(spec, std::move(options), std::move(devices)));
  return PlannedRequest{.request = std::move(planned.requests.front()),
                        .refused = std::move(planned.refused),
                        .warnings = std::move(planned.warnings)};
}

}  // namespace assay
