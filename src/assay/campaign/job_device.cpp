#include "assay/campaign/job_device.h"

#include <expected>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "assay/base/result.h"
#include "assay/campaign/job_target.h"
#include "assay/campaign/launch_target.h"
#include "assay/engine/description.h"
#include "assay/remote/job_folder.h"

namespace assay {

Result<std::unique_ptr<JobDevice>> JobDevice::open(const std::filesystem::path& folder) {
  JobFolder jobs(folder);
  ASSAY_ASSIGN_OR_RETURN(auto worker, jobs.read_worker());
  jobs.withdraw_orphans();
  std::unique_ptr<JobDevice> device(new JobDevice(std::move(jobs), std::move(worker)));
  for (const auto& description : device->worker_.engines) {
    ASSAY_ASSIGN_OR_RETURN(auto build, build_from_description("", description));
    device->installed_.builds.push_back(std::move(build));
  }
  return device;
}

std::string JobDevice::triple() const {
  return installed_.builds.empty() ? "" : installed_.builds.front().details.value("target", "");
}

Result<std::unique_ptr<LaunchTarget>> JobDevice::connect(std::function<bool()> keep_waiting) {
  if (absence_) {
    return std::unexpected(*absence_);
  }
  return std::make_unique<JobTarget>(
      folder_, worker_,
      JobTarget::Options{.keep_waiting = std::move(keep_waiting),
                         .on_absence = [this](const Error& error) { absence_ = error; }});
}

}  // namespace assay
