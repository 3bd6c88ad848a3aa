#pragma once

#include "features/fleet/job_builds.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/campaign/preparation.h"
#include "assay/campaign/run_context.h"
#include "assay/record/case.h"
#include "assay/record/comparison.h"
#include "assay/record/run.h"
#include "assay/record/subject.h"

namespace assay {

/// Which devices may execute a job: the one of a name, or any of a class.
struct DeviceRequirement {
  std::string name;          ///< "pi5"; empty: any device of the class.
  std::string device_class;  ///< Whole: "linux-aarch64:cortex-a76:4cpu".

  /// The queue in which the job waits: "device:pi5" or "class:linux-aarch64:cortex-a76:4cpu".
  [[nodiscard]] std::string queue() const;
};

/// Work for one device of a fleet: the cases, all of whose launches are made there, or a comparison
/// of two, and everything that they need. Schema assay/fleet-job/1, docs/contracts/fleet.md.
struct FleetJob {
  std::string id;         ///< Equal for the same cases of the same run: job_id_of().
  int n = 0;              ///< Number of the try; another one follows a lost one.
  Run run;                ///< The run that the results belong to.
  Environment described;  ///< The machine that the run names.
  DeviceRequirement device;
  std::vector<Case> cases;
  /// Set where the two cases are the sides of a comparison, A first.
  std::optional<ComparisonPlan> comparison;
  int attempt = 0;  ///< Attempt::n of what is stored: another number, other results of the cases.
  /// The cases and their extra cases with what was made for them. Paths are those of the driver;
  /// the files lie in the artifact store by their digests.
  std::vector<PreparedCase> prepared;
  /// The device must have these, by reference and build id, unless the job brings them.
  std::vector<EngineBuild> builds;
  std::vector<JobBuild> brought;  ///< Those of `builds` that come from a commit.
  CampaignSettings settings;
  std::string artifact_store;    ///< A text for open_artifact_store().
  std::int64_t deadline_ns = 0;  ///< Longest time that a try may take; 0: none.
  std::int64_t expected_ns = 0;  ///< From the newest runs of the cases; 0: unknown.
  std::string label;             ///< For people.
};

/// Identifies the work: digest of the run, the requirement, the cases and the attempt, 32 digits.
std::string job_id_of(const std::string& run, const DeviceRequirement& device,
                      const std::vector<Case>& cases, int attempt);

Json json_from_job(const FleetJob& job);

/// Errors: kUnsupported for another schema; kCorrupt, naming the field.
Result<FleetJob> job_from_json(const Json& document);

}  // namespace assay
