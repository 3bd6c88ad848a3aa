#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace assay {

/// The folders in `folder`, in any order; those that vanish meanwhile, or all of one that cannot be
/// read, are left out.
std::vector<std::filesystem::path> folders_in(const std::filesystem::path& folder);

/// When the file or folder was changed last, in ns since 1970; 0: it cannot be read.
std::int64_t modified_unix_ns(const std::filesystem::path& path);

}  // namespace assay
