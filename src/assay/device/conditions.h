#pragma once

#include <filesystem>

#include "assay/record/launch.h"

namespace assay {

/// State of this machine now: load, pressure, ticks stolen by a hypervisor, the highest core
/// frequency, the highest temperature of its thermal zones, how often its cores were throttled,
/// governor, available memory. What the system does not tell is absent (a virtual machine often has
/// neither frequency nor temperature).
/// `root`: where /proc and /sys are found; tests give a folder of samples. About 0.2 ms.
Conditions read_conditions(const std::filesystem::path& root = "/");

}  // namespace assay
