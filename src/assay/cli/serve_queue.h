#pragma once

#include <string>

#include "assay/base/result.h"
#include "assay/cli/exit_code.h"

namespace assay::cli {

/// A worker of a queue.
struct QueueWorker {
  std::string executor;   ///< A name of devices.json.
  std::string device;     ///< Value of --device.
  std::string name;       ///< Name in the fleet.
  std::string artifacts;  ///< Artifact store; empty: as jobs say.
  std::string python;     ///< Value of --python.
  std::string canary;     ///< Program that the device must run; empty: none.
};

/// Serves the executor's queue for the device until it is asked to stop, in the process of the
/// Python side, which starts `assay work --job` for each job. Errors: those of Inventory::read()
/// and get_executor(); kUnsupported for an executor that starts jobs itself; kNotFound without
/// Python.
Result<ExitCode> serve_queue(const QueueWorker& worker);

}  // namespace assay::cli
