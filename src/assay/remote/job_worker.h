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
  /// Time that an unclaimed job waits before the worker is taken for absent.
  std::int64_t claimed_within_ns = 600'000'000'000;
  /// Time beyond its own limit that a claimed job may take to answer.
  std::int64_t answered_within_ns = 120'000'000'000;
  std::int64_t heartbeat_ns = 0;  ///< Time between two signs of life; 0: the worker gives none.
};

/// Reads schema assay/job-device/1. Errors: kUnsupported for another schema; kCorrupt, naming the
/// field.
Result<JobWorker> job_worker_from_json(const Json& document);

}  // namespace assay
