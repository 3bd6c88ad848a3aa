#include "assay/cli/campaign_setup.h"

#include "features/repository/build_cache.h"
#include "features/repository/engine_registration.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/artifact/cache.h"
#include "assay/artifact/toolchain.h"
#include "assay/artifact/toolchains.h"
#include "assay/base/fs.h"
#include "assay/base/log.h"
#include "assay/base/result.h"
#include "assay/base/units.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/listener.h"
#include "assay/campaign/request_from_spec.h"
#include "assay/cli/common_flags.h"
#include "assay/cli/device_flag.h"
#include "assay/cli/labels.h"
#include "assay/record/case.h"
#include "assay/record/device_trace.h"
#include "assay/record/sandbox.h"
#include "assay/record/subject.h"
#include "assay/remote/device_choice.h"
#include "assay/spec/spec.h"
#include "assay/store/result_store.h"

namespace assay::cli {
namespace {

std::vector<std::string>& remembered_argv() {
  static std::vector<std::string> argv;
  return argv;
}

/// Builds of the cache that are measured stay there until this process ends.
void keep_builds_in_use(const std::vector<CampaignRequest>& requests) {
  static std::optional<BuildCache> claimed;
  std::vector<EngineBuild> used;
  for (const auto& request : requests) {
    std::ranges::copy_if(request.context.builds, std::back_inserter(used), [&](const auto& build) {
      return std::ranges::find(request.cases, build.reference(), &Case::engine_build) !=
             request.cases.end();
    });
  }
  claimed = claim_builds_of(used, assay_home());
}

void log_refused(const PlannedRequests& planned) {
  for (const auto& warning : planned.warnings) {
    log_line(LogLevel::kWarning, warning);
  }
  for (const auto& refused : planned.refused) {
    log_line(
        LogLevel::kInfo,
        fmt::format("skipped {} combination(s): {}{}{} on {}{}: {}", refused.cells, refused.model,
                    refused.model.empty() ? "" : " ", refused.recipe, refused.engine,
                    refused.device == kLocalDevice ? "" : ", device " + refused.device,
                    refused.reason));
  }
}

/// 0 for an empty text.
Result<std::int64_t> timeout_from(std::string_view flag, const std::string& text) {
  if (text.empty()) {
    return 0;
  }
  ASSAY_ASSIGN_OR_RETURN(const auto timeout_ns, duration_ns_from_text(text));
  if (timeout_ns == 0) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("{} must be greater than 0", flag));
  }
  return timeout_ns;
}

Result<RequestOptions> request_options_from(const Spec& spec, const CampaignFlags& flags) {
  RequestOptions options{
      .argv = remembered_argv(),
      .libraries = flags.run.libraries,
      .memory_limit_bytes = static_cast<std::int64_t>(flags.run.memory_limit_bytes),
      .parallel_jobs = flags.toolchain.jobs,
      .is_rebuild = flags.run.is_rebuild,
      .has_plugins = !flags.toolchain.plugin_files().empty()};
  ASSAY_ASSIGN_OR_RETURN(options.sandbox, flags.run.sandbox.get(spec.sandbox));
  ASSAY_ASSIGN_OR_RETURN(options.launch_timeout_ns,
                         timeout_from("--launch-timeout", flags.run.launch_timeout));
  ASSAY_ASSIGN_OR_RETURN(options.job_timeout_ns,
                         timeout_from("--job-timeout", flags.run.job_timeout));
  options.sensors = flags.run.sensors;
  if (!options.sensors.empty()) {
    const auto period = sensors_period_from_text(options.sensors);
    if (!period) {
      return fail_with_context(period.error(), "--sensors");
    }
  }
  ASSAY_ASSIGN_OR_RETURN(options.labels, labels_from_texts(flags.run.labels, "--label"));
  add_configured_device(options.labels);
  return options;
}

Result<std::vector<CampaignRequest>> plan_reached(const Spec& spec, RequestOptions options,
                                                  std::vector<PlannedDevice> reached) {
  if (spec.devices != std::vector<std::string>{kLocalDevice}) {
    options.labels.emplace("device", fmt::format("{}", fmt::join(spec.devices, ",")));
  }
  ASSAY_ASSIGN_OR_RETURN(auto planned,
                         requests_from_spec(spec, std::move(options), std::move(reached)));
  log_refused(planned);
  keep_builds_in_use(planned.requests);
  return std::move(planned.requests);
}

/// `spec`: with its devices by name.
Result<std::vector<CampaignRequest>> plan_on_devices(const Spec& spec, const CampaignFlags& flags,
                                                     bool keeps_repeated) {
  ASSAY_ASSIGN_OR_RETURN(auto options, request_options_from(spec, flags));
  options.keeps_repeated = keeps_repeated;
  flags.toolchain.apply();
  ASSAY_ASSIGN_OR_RETURN(const auto devices,
                         flags.device.open(spec, options.sandbox.value_or(SandboxMode::kOff)));
  std::vector<PlannedDevice> reached;
  reached.reserve(devices.size());
  for (const auto& device : devices) {
    reached.push_back({.name = device->name,
                       .environment = device->environment,
                       .installed = device->installed,
                       .meter = device->meter});
  }
  return plan_reached(spec, std::move(options), std::move(reached));
}

}  // namespace

void remember_argv(int argc, char** argv) { remembered_argv().assign(argv, argv + argc); }

const std::vector<std::string>& program_argv() { return remembered_argv(); }

Result<std::vector<CampaignRequest>> plan_campaigns(const Spec& asked, const CampaignFlags& flags,
                                                    bool keeps_repeated) {
  ASSAY_ASSIGN_OR_RETURN(const auto spec, flags.device.apply_to(asked));
  return plan_on_devices(spec, flags, keeps_repeated);
}

Result<std::vector<CampaignRequest>> plan_on_described(const Spec& spec, const CampaignFlags& flags,
                                                       std::vector<PlannedDevice> devices,
                                                       bool keeps_repeated) {
  ASSAY_ASSIGN_OR_RETURN(auto options, request_options_from(spec, flags));
  options.keeps_repeated = keeps_repeated;
  flags.toolchain.apply();
  return plan_reached(spec, std::move(options), std::move(devices));
}

Result<CampaignRequest> plan_campaign(const Spec& asked, const CampaignFlags& flags,
                                      bool keeps_repeated) {
  ASSAY_ASSIGN_OR_RETURN(const auto spec, flags.device.apply_to(asked));
  if (spec.devices.size() > 1) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("this command works on one device, and {} are named ({}); name one of "
                            "them with --device",
                            spec.devices.size(), fmt::join(spec.devices, ", ")));
  }
  ASSAY_ASSIGN_OR_RETURN(auto planned, plan_on_devices(spec, flags, keeps_repeated));
  return std::move(planned.front());
}

CampaignTools campaign_tools(ResultStore& store, const ArtifactCache& cache,
                             const ToolchainFlags& flags, const CampaignDevice& device,
                             CampaignListener& listener) {
  return {.store = store,
          .cache = cache,
          .toolchain_of = toolchains_of(default_python(flags.python)),
          .connect_target = device.connect,
          .lock_device = device.lock,
          .listener = listener};
}

CampaignTools campaign_tools(ResultStore& store, const ArtifactCache& cache,
                             const ToolchainFlags& flags, const DeviceFlag& device,
                             CampaignListener& listener) {
  // Verbs ask for the tools before the plan opens the device.
  const CampaignDevice to_be_opened{.connect = [device] { return device.current()->connect(); },
                                    .lock = [device] { return device.current()->lock(); }};
  return campaign_tools(store, cache, flags, to_be_opened, listener);
}

}  // namespace assay::cli
