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

/// Makes a folder that is absent, and those above it. Errors: kUnavailable.
Status make_folder(const std::filesystem::path& path);

/// Removes what is in a folder, as remove_tree() does, and makes one that is absent.
Status empty_folder(const std::filesystem::path& path);

}  // namespace assay
