#include "assay/campaign/campaign.h"

#include <cstddef>
#include <expected>
#include <memory>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/result.h"
#include "assay/campaign/attempts.h"
#include "assay/campaign/device_campaign.h"
#include "assay/campaign/resume.h"
#include "assay/campaign/shared_listener.h"
#include "assay/store/case_attempts.h"

namespace assay {
namespace {

/// The run, and the machine of each device where there are several.
Status open_run(std::span<const CampaignPart> parts) {
  const auto& first = parts.front();
  const auto& context = first.request.context;
  auto& store = first.tools.store;
  ASSAY_RETURN_IF_ERROR(store.add_environment(context.environment));
  ASSAY_RETURN_IF_ERROR(context.is_resumed ? store.claim_run(context.run.id)
                                           : store.add_run(context.run));
  for (const auto& part : parts.size() == 1 ? parts.first(0) : parts) {
    ASSAY_RETURN_IF_ERROR(store.add_run_device(context.run.id, part.request.context.device,
                                               part.request.context.environment));
  }
  return {};
}

/// A campaign with the result of its execution.
struct Execution {
  std::unique_ptr<DeviceCampaign> campaign;
  Status status;
};

bool is_this_machine(const CampaignPart& part) { return part.request.context.device == "local"; }

/// This machine comes first and alone: whoever drives a device, pushes files to it or
/// judges its outputs would disturb it.
void execute_all(std::span<const CampaignPart> parts, std::span<Execution> executions) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (is_this_machine(parts[i]) || parts.size() == 1) {
      executions[i].status = executions[i].campaign->execute();
    }
  }
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < parts.size() && parts.size() > 1; ++i) {
    if (!is_this_machine(parts[i])) {
      threads.emplace_back([&one = executions[i]] { one.status = one.campaign->execute(); });
    }
  }
}

/// Errors: kTimeout if the campaign was asked to stop, whatever else happened.
Result<std::vector<UnfinishedDevice>> unfinished_devices(std::span<const CampaignPart> parts,
                                                         std::span<const Execution> executions) {
  std::vector<UnfinishedDevice> unfinished;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto& status = executions[i].status;
    if (!status && parts[i].tools.listener.should_stop()) {
      return fail(ErrorCode::kTimeout, status.error().message);
    }
    if (!status) {  // A device that does not answer is a timeout, too.
      unfinished.push_back({.device = parts[i].request.context.device, .error = status.error()});
    }
  }
  return unfinished;
}

}  // namespace

CampaignTools CampaignTools::with_listener(CampaignListener& other) const {
  return {.store = store,
          .cache = cache,
          .toolchain_of = toolchain_of,
          .connect_target = connect_target,
          .lock_device = lock_device,
          .listener = other,
          .servers = servers,
          .prepare = prepare};
}

Result<std::vector<UnfinishedDevice>> run_campaigns(const std::vector<CampaignPart>& asked) {
  auto parts = asked;
  SharedListener shared(parts.front().tools.listener);
  std::vector<std::unique_ptr<CampaignListener>> listeners;
  if (parts.size() > 1) {
    parts.clear();
    for (const auto& part : asked) {
      listeners.push_back(shared.for_device(part.request.context.device));
      auto tools = part.tools.with_listener(*listeners.back());
      parts.push_back({.request = part.request, .tools = std::move(tools)});
    }
  }
  ASSAY_RETURN_IF_ERROR(open_run(parts));
  const auto order = std::make_shared<LaunchOrder>(0);
  std::vector<Execution> executions(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(executions[i].campaign,
                           DeviceCampaign::make(parts[i].request, parts[i].tools, order));
    ASSAY_RETURN_IF_ERROR(executions[i].campaign->list());
  }
  const auto& request = parts.front().request;
  auto& store = parts.front().tools.store;
  if (!request.context.is_resumed) {
    ASSAY_RETURN_IF_ERROR(mark_cases_listed(store, request.context.run.id));
  }
  for (const auto& execution : executions) {
    ASSAY_RETURN_IF_ERROR(execution.campaign->prepare());
  }
  execute_all(parts, executions);
  ASSAY_ASSIGN_OR_RETURN(auto unfinished, unfinished_devices(parts, executions));
  if (unfinished.empty() && request.finishes_run) {
    // A resumption may have left out cases, or not found what they need.
    ASSAY_ASSIGN_OR_RETURN(const bool is_complete, is_run_complete(store, request.context.run.id));
    if (is_complete) {
      ASSAY_RETURN_IF_ERROR(store.finish_run(request.context.run.id, unix_time_ns()));
    }
  }
  return unfinished;
}

Status run_campaign(const CampaignRequest& request, const CampaignTools& tools) {
  ASSAY_ASSIGN_OR_RETURN(auto unfinished, run_campaigns({{.request = request, .tools = tools}}));
  return unfinished.empty() ? Status() : std::unexpected(std::move(unfinished.front().error));
}

}  // namespace assay
