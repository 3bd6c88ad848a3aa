#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// Cores of one type.
struct CoreType {
  std::string name;  ///< "ARM Cortex-A55", as cpu_model_from_cpuinfo() tells it.
  int count = 0;     ///< Off line ones, too, as far as the system tells their type.
};

/// Types of the cores in the order of their first cores; fewer than two where all are alike.
/// /proc/cpuinfo leaves out cores that are off line: those are of the type of the cores that share
/// their frequency policy, or of the one that the device tree tells. `root`: in place of "/".
std::vector<CoreType> read_core_types(std::string_view cpuinfo, const std::filesystem::path& root);

/// "4x ARM Cortex-A55 + 2x ARM Cortex-A76".
std::string text_of_core_types(const std::vector<CoreType>& types);

}  // namespace assay
