#pragma once

#include <string>
#include <vector>

namespace assay {

/// Folders of the program and the shared libraries that this process has loaded, without those of
/// the system (/usr, /lib). Links are followed. Sorted, each once.
std::vector<std::string> folders_of_loaded_files();

}  // namespace assay
