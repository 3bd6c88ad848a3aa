#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "assay/artifact/cache.h"
#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/listener.h"
#include "assay/campaign/request_from_spec.h"
#include "assay/cli/common_flags.h"
#include "assay/cli/device_flag.h"
#include "assay/spec/spec.h"
#include "assay/store/result_store.h"

namespace assay::cli {

/// All flags of a verb that ends in a campaign.
struct CampaignFlags {
  StoreFlags store;
  ReportFlags report;
  ToolchainFlags toolchain;
  RunFlags run;
  DeviceFlag device;
  std::string executor;  ///< Its devices run the cases; empty: those of --device.
  bool has_accuracy_tables = false;
  bool is_run_named =
      false;  ///< The run to resume was named, so that it may be of another machine.
  std::string
      bundle;  ///< Folder for the worst layers, used by `assay attribute`; empty: none is written.

  void declare(CLI::App& app);
};

/// Plans a new run: a request for each device of the spec, in its order, with the cases of that
/// device. Refused combinations are logged. `keeps_repeated`: a case that the spec names twice is
/// made twice. Errors: as expand; kInvalidArgument for a malformed flag.
Result<std::vector<CampaignRequest>> plan_campaigns(const Spec& spec, const CampaignFlags& flags,
                                                    bool keeps_repeated = false);

/// Like plan_campaigns(), on devices that other hosts reach. Errors: as expand.
Result<std::vector<CampaignRequest>> plan_on_described(const Spec& spec, const CampaignFlags& flags,
                                                       std::vector<PlannedDevice> devices,
                                                       bool keeps_repeated = false);

/// Like plan_campaigns(), for a command that works on one device. Errors: also kInvalidArgument for
/// several.
Result<CampaignRequest> plan_campaign(const Spec& spec, const CampaignFlags& flags,
                                      bool keeps_repeated = false);

/// Tools that work on the device; all arguments outlive them.
CampaignTools campaign_tools(ResultStore& store, const ArtifactCache& cache,
                             const ToolchainFlags& flags, const CampaignDevice& device,
                             CampaignListener& listener);
/// Tools that work on the device that was planned for.
CampaignTools campaign_tools(ResultStore& store, const ArtifactCache& cache,
                             const ToolchainFlags& flags, const DeviceFlag& device,
                             CampaignListener& listener);

/// Name and arguments of the running program, as it was called; kept with each run.
void remember_argv(int argc, char** argv);
const std::vector<std::string>& program_argv();

}  // namespace assay::cli
