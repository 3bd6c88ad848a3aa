#pragma once

#include <filesystem>

#include "assay/base/result.h"

namespace assay {

/// The folder of an agent for all that it keeps: $ASSAY_AGENT_HOME, else
/// $XDG_CACHE_HOME/assay-agent, else ~/.cache/assay-agent. Absolute.
std::filesystem::path agent_home();

/// Where $ASSAY_AGENT_HOME names the folder: gives this process, and so its children, a HOME and a
/// TMPDIR below it unless it has some that can be written, which the shell of a phone and a bare
/// board may not have. "/" is no HOME. Removes temporary folders of agents that were killed. Call
/// before there are threads. Errors: kUnavailable when the folder cannot be written.
Status settle_in_agent_home();

}  // namespace assay
