#pragma once

#include "features/fleet/fleet_job.h"
#include "features/fleet/fleet_worker.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/result.h"

namespace assay {

/// A change of a job.
struct FleetEvent {
  enum class Kind : std::uint8_t {
    kStarted,    ///< A device has begun.
    kDone,       ///< A part came back: the store of one execution, which says whose it is.
    kSilent,     ///< The device gives no sign of life; the executor gives the try to another one.
    kLost,       ///< The try came to no end, and nobody makes it again.
    kCancelled,  ///< Somebody took the jobs of the run back: Executor::cancel().
  };

  Kind kind = Kind::kStarted;
  std::string job;  ///< Set for all but kDone.
  int n = 0;
  std::string device;          ///< Set for all but kDone; empty: not known.
  std::filesystem::path part;  ///< Set for kDone.
  std::string why;             ///< Set for kSilent and kLost.
};

/// The state of a try that was submitted.
enum class Submission : std::uint8_t {
  kQueued,
  kFollowed,    ///< An earlier driver queued it; its events are told to this one.
  kLostBefore,  ///< The job, or its part, was lost before this driver started: the next try is due.
};

/// Numbers of jobs of a run that wait and that are executed.
struct FleetQueue {
  std::string run;
  int waiting = 0;
  int executing = 0;
  std::int64_t expected_ns =
      0;  ///< All of them on one device, those not known as the others; 0: not known.
};

/// Brings jobs to devices: a seam over schedulers that exist. Jobs and results outlive the driver,
/// who may come back with another object. Not thread-safe.
class Executor {
 public:
  virtual ~Executor() = default;

  /// The devices that have ever described themselves. Errors: kUnavailable.
  virtual Result<std::vector<FleetWorker>> workers() = 0;

  /// Queues one try at a job; one that is already known is not queued again. Errors: kUnavailable
  /// (the scheduler, the folder), with what it said.
  virtual Result<Submission> submit(const FleetJob& job) = 0;

  /// The next event of the jobs that were submitted, and of parts of their run by whomever; nullopt
  /// where nothing happened within the time. Errors: kUnavailable.
  virtual Result<std::optional<FleetEvent>> next(std::chrono::milliseconds timeout) = 0;

  /// The part was taken in, and may be removed.
  virtual Status forget(const std::filesystem::path& part) = 0;

  /// Takes back all jobs of a run; those that are executed are stopped. Returns how many. Errors:
  /// kUnavailable.
  virtual Result<int> cancel(const std::string& run) = 0;

  /// The jobs that wait, by run. Errors: kUnavailable.
  virtual Result<std::vector<FleetQueue>> queues() = 0;

  /// Asks the worker of a device to end after its job, or with `reason` empty to go on. Errors:
  /// kUnsupported where the scheduler has a command of its own, naming it; kNotFound.
  virtual Status drain(const std::string& device, const std::string& reason) = 0;
};

}  // namespace assay
