#pragma once

#include <cstdint>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/run.h"

namespace assay {

/// Executes the jobs of a folder, and describes itself in device.json there.
struct JobWorker {
  Environment environment;
  std::vector<Json> engines;  ///< EngineDescriptions, as runners print them.
  /// How long a job may lie there before the worker is taken for absent.
  std::int64_t claimed_within_ns = 600'000'000'000;
  /// How much longer than its own limit a claimed job may take until its answer is there.
  std::int64_t answered_within_ns = 120'000'000'000;
  std::int64_t heartbeat_ns = 0;  ///< Between two signs of life; 0: it gives none.
};

/// Reads schema assay/job-device/1. Errors: kUnsupported for another schema; kCorrupt, naming the
/// field.
Result<JobWorker> job_worker_from_json(const Json& document);

}  // namespace assay
