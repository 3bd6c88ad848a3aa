#include "assay/cli/fleet_setup.h"

#include "features/fleet/artifact_store.h"
#include "features/fleet/choose_group.h"
#include "features/fleet/executor.h"
#include "features/fleet/fleet_campaigns.h"
#include "features/fleet/fleet_job.h"
#include "features/fleet/open_executor.h"
#include "features/repository/engine_registration.h"

#include <CLI/CLI.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "assay/artifact/toolchain.h"
#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/device/environment.h"
#include "assay/engine/installed_builds.h"
#include "assay/record/subject.h"
#include "assay/remote/inventory.h"

namespace assay::cli {
namespace {

/// "linux-aarch64" of a device class.
std::string platform_of(const std::string& device_class) {
  return device_class.substr(0, device_class.find(':'));
}

/// Those of this machine are newer than what earlier jobs have left on the devices. One that is
/// damaged or no longer in the cache is left out.
void add_builds_of_commits(std::vector<EngineBuild>& builds) {
  for (const auto& own : registered_builds(assay_home())) {
    const auto entry = find_entry_of(own, assay_home()).value_or(std::nullopt);
    if (entry && is_portable(*entry)) {
      std::erase_if(builds,
                    [&](const EngineBuild& build) { return build.reference() == own.reference(); });
      builds.push_back(own);
    }
  }
}

}  // namespace

void declare_executor(CLI::App& app, std::string& executor) {
  app.add_option("--executor", executor,
                 "Run the cases on the devices of a fleet: an executor of devices.json");
}

Result<ConfiguredExecutor> open_executor_named(const std::string& name, const std::string& python) {
  ASSAY_ASSIGN_OR_RETURN(const auto inventory, Inventory::read(Inventory::default_file()));
  ASSAY_ASSIGN_OR_RETURN(const auto entry, inventory.get_executor(name));
  return open_executor(name, entry, default_python(python));
}

Result<FleetCampaigns> campaigns_of(const ConfiguredExecutor& executor, DeviceRequirement device,
                                    const std::string& python) {
  ASSAY_ASSIGN_OR_RETURN(auto artifacts,
                         open_artifact_store(executor.artifact_store, default_python(python)));
  return FleetCampaigns{.executor = executor.executor,
                        .artifacts = std::move(artifacts),
                        .device = std::move(device),
                        .artifact_store = executor.artifact_store,
                        .job_deadline_ns = executor.job_deadline_ns,
                        .home = assay_home()};
}

Result<std::vector<ChosenDevices>> choose_devices_of(Executor& executor,
                                                     std::span<const std::string> asked) {
  ASSAY_ASSIGN_OR_RETURN(const auto workers, executor.workers());
  ASSAY_ASSIGN_OR_RETURN(auto chosen, choose_fleet_devices(asked, workers));
  const auto own_platform = platform_of(read_environment().device_class);
  for (auto& one : chosen) {
    if (platform_of(one.requirement.device_class) == own_platform) {
      add_builds_of_commits(one.planned.installed.builds);
    }
  }
  return chosen;
}

}  // namespace assay::cli
