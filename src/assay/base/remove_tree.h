#pragma once

#include <filesystem>

#include "assay/base/result.h"

namespace assay {

/// Lets the owner enter and change all folders below `path`, where a program has left some that may
/// only be read, as package managers do. What belongs to others stays as it is.
void make_folders_writable(const std::filesystem::path& path);

/// Removes a file, or a folder with all that is in it, whatever the permissions in there. Errors:
/// kUnavailable where something stays.
Status remove_tree(const std::filesystem::path& path);

}  // namespace assay
