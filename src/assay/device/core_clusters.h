#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace assay {

/// Cores by name where they are not all alike: {"big": "4-7", "little": "0-3"}, with "mid" for what
/// lies between the fastest and the slowest. They are distinguished by cpu_capacity, else by the
/// highest frequency, where 10 % less is alike: favoured cores of one kind differ so much. Empty
/// where all are alike, or the system tells nothing.
/// `root`: where /sys is found; tests give a folder of samples.
/// Source: Linux, Documentation/devicetree/bindings/cpu/cpu-capacity.txt and
/// admin-guide/pm/cpufreq.
std::map<std::string, std::string> read_core_clusters(const std::filesystem::path& root = "/");

}  // namespace assay
