#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/run.h"
#include "assay/record/subject.h"

namespace assay {

/// A device of a fleet, as its worker describes it: schema assay/fleet-worker/1.
struct FleetWorker {
  std::string device;  ///< "pi5"
  std::string host;
  Environment environment;          ///< Without a class: it could not be asked yet.
  std::vector<EngineBuild> builds;  ///< Builds without their paths.

  // Known only if the executor's workers report it.
  std::string state = "unknown";  ///< "idle", "busy", "out", "draining", "gone", "unknown"
  std::string reason;             ///< Why its state is "out".
  std::string job;                ///< Label of the job that it executes.
  std::int64_t job_since_unix_ns = 0;
  std::int64_t heartbeat_unix_ns = 0;  ///< 0: it sends none.
};

Json json_from_worker(const FleetWorker& worker);

/// Errors: kUnsupported for another schema; kCorrupt, naming the field.
Result<FleetWorker> worker_from_json(const Json& document);

}  // namespace assay
