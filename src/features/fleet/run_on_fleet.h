#pragma once

#include "features/fleet/artifact_store.h"
#include "features/fleet/executor.h"
#include "features/fleet/fleet_job.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/record/case.h"
#include "assay/record/comparison.h"
#include "assay/record/job_execution.h"
#include "assay/store/result_store.h"

namespace assay {

/// Cases for devices of one kind.
struct FleetGroup {
  CampaignRequest campaign;  ///< Its cases name no device that is known yet.
  DeviceRequirement device;
  /// Set where the campaign's two cases are the sides of a comparison, which one device makes.
  std::optional<ComparisonPlan> comparison = {};

  /// The cases that go to one device together, a job for each: a case on all engine builds, which
  /// are measured in turn, or both sides of the comparison.
  [[nodiscard]] std::vector<std::vector<Case>> cases_of_jobs() const;
};

/// A campaign for devices of a fleet.
struct FleetRequest {
  std::vector<FleetGroup> groups;  ///< At least one; all have the same run.
  std::string artifact_store;
  std::int64_t job_deadline_ns = 0;  ///< Longest time of a try at a job; 0: none.
  /// The driver's home: its engine builds from commits go with the jobs that need them.
  std::filesystem::path home = {};
  int most_tries = 3;  ///< Most tries at a job by this driver.
};

/// Services that a driver uses; all outlive the call. The campaign's connection to a device and its
/// lock are not used.
struct FleetTools {
  const CampaignTools& campaign;
  Executor& executor;
  ArtifactStore& artifacts;
};

/// A case without a result.
struct OpenFleetCase {
  std::string label;
  std::string why;
};

/// The end of a driver.
struct FleetEnd {
  bool is_stopped = false;          ///< The driver was asked to stop; the fleet goes on.
  int waiting = 0;                  ///< Jobs that are with the fleet then.
  int late = 0;                     ///< Executions that were taken in and do not count.
  std::vector<OpenFleetCase> open;  ///< Cases whose tries were all lost.
};

/// Makes the artifacts, puts them into the artifact store, submits a job for each case that has no
/// result yet, those that took longest first, and takes in the parts as they come. A driver that
/// dies loses nothing: with `is_resumed` another one goes on. The run ends if every case has a
/// result and the campaigns finish it. The plan of a comparison is in the store before its job is
/// submitted. Errors: those of prepare_cases(), put_files() and the
/// executor; of the store.
Result<FleetEnd> run_on_fleet(const FleetRequest& request, const FleetTools& tools);

/// Merges the part into the store and lets its execution count, unless another one of the same job
/// does: JobExecution::is_counted of those that it returns. Errors: those of
/// ResultStore::merge_from(); kCorrupt for a store that is no part.
Result<std::vector<JobExecution>> take_in_part(const std::filesystem::path& part,
                                               ResultStore& store);

}  // namespace assay
