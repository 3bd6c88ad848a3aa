#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "assay/base/result.h"
#include "assay/campaign/launch.h"

namespace assay {

/// A connected device that runs launches, one at a time. Not thread-safe: two launches at once need
/// two targets.
///
/// A request names files by their paths on this machine. A target on another device brings them
/// there and translates the paths.
class LaunchTarget {
 public:
  LaunchTarget() = default;
  LaunchTarget(const LaunchTarget&) = delete;
  LaunchTarget& operator=(const LaunchTarget&) = delete;
  virtual ~LaunchTarget() = default;

  /// Runs one runner process to its end. How the process ended is part of the result. Errors: the
  /// target refused the launch, or was lost while it ran.
  virtual Result<LaunchResult> run(const LaunchRequest& request) = 0;

  /// True if the target can run further launches; called after an error.
  virtual bool is_alive() = 0;

  /// The device is behind a link that may fail: a launch that lost it is made again more often, and
  /// is no crash of its program.
  [[nodiscard]] virtual bool has_link() const { return false; }

  /// True if the target begins with launches before run() asks for them, once expect() names them.
  [[nodiscard]] virtual bool has_queue() const { return false; }

  /// Names the launches that run() will be asked for next, in this order. They replace those that
  /// were named before; what run() asks for besides is run all the same.
  virtual void expect(const std::vector<LaunchRequest>& /*requests*/) {}
};

/// Connects to the device anew; asked again when a target was lost.
/// Errors: kUnavailable, kUnsupported.
using ConnectTarget = std::function<Result<std::unique_ptr<LaunchTarget>>()>;

}  // namespace assay
