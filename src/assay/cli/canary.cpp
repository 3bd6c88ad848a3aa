#include "assay/cli/canary.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <utility>

#include "assay/artifact/cache.h"
#include "assay/base/enum_names.h"
#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/listener.h"
#include "assay/campaign/request_from_spec.h"
#include "assay/cli/campaign_setup.h"
#include "assay/cli/common_flags.h"
#include "assay/cli/device_flag.h"
#include "assay/cli/quick_spec.h"
#include "assay/record/axes.h"
#include "assay/record/run.h"
#include "assay/spec/spec.h"
#include "assay/store/result_store.h"

namespace assay::cli {
namespace {

Result<CampaignRequest> plan_canary(const std::string& program, const CampaignDevice& device) {
  QuickSpec quick;
  quick.model = std::filesystem::absolute(program).string();
  quick.launches = 1;
  quick.warmup = "0";
  quick.iterations = "1";
  ASSAY_ASSIGN_OR_RETURN(const auto document, quick.document({"timing"}));
  ASSAY_ASSIGN_OR_RETURN(const auto context, ToolchainFlags().context("--canary"));
  ASSAY_ASSIGN_OR_RETURN(auto spec, spec_from_json(document, context));
  spec.devices = {device.name};
  ASSAY_ASSIGN_OR_RETURN(auto planned, request_from_spec(spec, {},
                                                         {.name = device.name,
                                                          .environment = device.environment,
                                                          .installed = device.installed,
                                                          .meter = device.meter}));
  if (planned.request.cases.empty()) {
    return fail(ErrorCode::kUnavailable,
                planned.refused.empty() ? "it is no program" : planned.refused.front().reason);
  }
  return std::move(planned.request);
}

/// Errors: kUnavailable where its only launch does not complete.
Status launch_canary(const std::string& program, const CampaignDevice& device) {
  ASSAY_ASSIGN_OR_RETURN(const auto request, plan_canary(program, device));
  const auto store = make_memory_store();
  const ArtifactCache cache(assay_home() / "cache");
  CampaignListener silent;
  ASSAY_RETURN_IF_ERROR(
      run_campaign(request, campaign_tools(*store, cache, ToolchainFlags(), device, silent)));
  ASSAY_ASSIGN_OR_RETURN(const auto attempts, store->attempts_of_run(request.context.run.id));
  const auto failed = std::ranges::find_if(
      attempts, [](const Attempt& attempt) { return attempt.outcome != Outcome::kCompleted; });
  return failed == attempts.end()
             ? Status()
             : fail(ErrorCode::kUnavailable,
                    fmt::format("{}: {}", name_of(failed->outcome), failed->text));
}

}  // namespace

Status check_canary(const std::string& program, const std::string& name,
                    const CampaignDevice& device) {
  auto status = launch_canary(program, device);
  return status ? Status()
                : fail(ErrorCode::kUnavailable, fmt::format("device '{}' fails its canary '{}': {}",
                                                            name, program, status.error().message));
}

}  // namespace assay::cli
