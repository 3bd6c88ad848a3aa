#pragma once

#include <string>
#include <vector>

#include "assay/record/sandbox.h"

namespace assay {

/// The command line by which the agent next to the running program executes `argv` in a box, with
/// the standard streams that it is given; `argv` itself where the mode is kOff.
///
/// `folder`: the private one, which exists and outlives the process. The process ends as its
/// program does; where the box cannot be made, with kNoBox and the reason on stderr.
std::vector<std::string> boxed_command(const SandboxRequest& box, const std::string& folder,
                                       std::vector<std::string> argv);

inline constexpr int kNoBox = 125;

}  // namespace assay
