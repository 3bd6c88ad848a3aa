#pragma once

#include <filesystem>

namespace assay {

/// Removes a store in a file, with what SQLite and claimants keep next to it. What is not there, or
/// cannot be removed, stays.
void remove_store_files(const std::filesystem::path& file);

}  // namespace assay
