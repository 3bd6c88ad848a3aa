#pragma once

#include <chrono>
#include <filesystem>

#include "assay/base/result.h"

namespace assay {

/// Removes all that agents have in their folder, their programs and the folder itself, too, if
/// nothing else is in it. Settings that a killed agent left are taken back. Nobody else has the
/// device meanwhile. Errors: kUnavailable where somebody has it for longer than `patience`, or
/// where something cannot be removed.
Status clear_agent_home(const std::filesystem::path& home, std::chrono::milliseconds patience);

/// Removes the programs of other agents, each of another build, that no process executes and that
/// were not started for an hour.
void remove_unused_agents(const std::filesystem::path& home);

/// Removes the files of measurements that lost their connection. Only for who has the device.
void remove_left_wrappers(const std::filesystem::path& home);

}  // namespace assay
