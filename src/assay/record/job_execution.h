#pragma once

#include <cstdint>
#include <string>

#include "assay/base/json.h"

namespace assay {

/// One execution of a job of a fleet by a worker. A job may be executed more than once: after a
/// partition of the network it is not known whether the first worker still lives. The attempts that
/// an execution made have its id as Attempt::worker.
struct JobExecution {
  std::string id;  ///< UUIDv7
  std::string run;
  std::string job;     ///< Equal for the same work of the same run.
  int n = 0;           ///< Number of the driver's try at the job.
  std::string worker;  ///< For people: "host:pid".
  std::string device;
  std::int64_t started_unix_ns = 0;   ///< On the clock of the worker.
  std::int64_t finished_unix_ns = 0;  ///< On the clock of the worker; 0: it did not finish.
  std::int64_t accepted_unix_ns = 0;  ///< When a driver let it count; 0: none did.
  /// Its attempts are those of the run. Only one execution of a job counts: see
  /// ResultStore::executions_of_run().
  bool is_counted = true;
};

ASSAY_DECLARE_JSON(JobExecution);

}  // namespace assay
