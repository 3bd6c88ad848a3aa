#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace assay {

/// The folders in `folder`, in any order; those that vanish meanwhile, or all of one that cannot be
/// read, are left out.
std::vector<std::filesystem::path> folders_in(const std::filesystem::path& folder);

/// The entries of `folder` whose names begin with `prefix`, in any order; none of a folder that
/// cannot be read.
std::vector<std::filesystem::path> entries_with(const std::filesystem::path& folder,
                                                std::string_view prefix);

/// When the file or folder was changed last, in ns since 1970; 0: it cannot be read.
std::int64_t modified_unix_ns(const std::filesystem::path& path);

}  // namespace assay
