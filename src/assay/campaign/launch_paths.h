#pragma once

#include <string>
#include <vector>

#include "assay/campaign/launch.h"
#include "assay/wire/messages.h"

namespace assay {

/// Files that a launch is about, in addition to those of the system.
struct LaunchPaths {
  std::vector<std::string> readable;  ///< Opened in a sandbox.
  /// Targets of a command's places, outside of the command's own folder; readable.
  std::vector<std::string> places;
  /// Files that its program names and a sandbox keeps closed, since whoever made the program would
  /// choose which files of the user it reads: a place that is_hidden_in_home(), and data that is a
  /// link out of the program's folder, but into a cache.
  std::vector<std::string> closed;
};

/// `request`: with absolute paths.
LaunchPaths paths_of_launch(const LaunchRequest& request);

/// Tells the runner what to load, by the paths of the request.
wire::Load load_of_launch(const LaunchRequest& request);

/// Tells, once for each program of this process, which files outside of its folder a sandbox opens
/// because the program names them, and which it keeps closed.
void tell_named_paths(const LaunchRequest& request);

/// One sentence that names what the sandbox keeps closed, for a launch that failed; empty: nothing.
std::string hint_of_closed_paths(const LaunchRequest& request);

}  // namespace assay
