#pragma once

#include "features/fleet/artifact_store.h"
#include "features/fleet/fleet_job.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "assay/artifact/cache.h"
#include "assay/base/result.h"
#include "assay/campaign/launch_target.h"
#include "assay/campaign/listener.h"
#include "assay/record/job_execution.h"
#include "assay/record/run.h"
#include "assay/record/subject.h"

namespace assay {

/// A device as a worker has it.
struct WorkingDevice {
  std::string name;
  Environment environment;
  std::vector<EngineBuild> builds;
  /// Home of this host, where a job's builds become engines of the device; empty: the device is not
  /// this host, and has only its own builds.
  std::filesystem::path home = {};
  std::vector<std::string> meter;  ///< Command that reads its power meter.
  ConnectTarget connect;
  std::function<Result<std::shared_ptr<void>>()> lock;
  /// Tells whether the device works, once a case of a job did not; empty: nobody can tell.
  std::function<Status()> check_health = {};
};

/// Services that a worker uses; all outlive the call.
struct WorkerTools {
  const ArtifactCache& cache;
  ArtifactStore& artifacts;
  CampaignListener& listener;
  std::string worker;  ///< Its name for people: "host:pid".
};

/// Whether the device may execute the job. Errors: kUnsupported for another device, class or engine
/// build, naming it.
Status check_can_execute(const FleetJob& job, const WorkingDevice& device);

/// Executes a job as a campaign of its own with a store of its own, the part, which appears whole
/// at `out`. Where a part lies there, of another execution, it stays, and this one gets the
/// execution's id in its name. Returns the part's path. Errors: those of check_can_execute(),
/// get_files(), BroughtBuilds::bring(), run_campaign() and run_comparison(); kUnavailable where the
/// device's gate stayed shut, or a case failed and so does the device. Then there is no part.
Result<std::filesystem::path> execute_job(const FleetJob& job, const WorkingDevice& device,
                                          const WorkerTools& tools,
                                          const std::filesystem::path& out);

}  // namespace assay
