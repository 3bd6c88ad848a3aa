#pragma once

#include <filesystem>

namespace assay {

/// The folder of an agent for all that it keeps: $ASSAY_AGENT_HOME, else
/// $XDG_CACHE_HOME/assay-agent, else ~/.cache/assay-agent. Absolute.
std::filesystem::path agent_home();

}  // namespace assay
