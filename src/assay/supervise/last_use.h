#pragma once

#include <cstdint>
#include <filesystem>

namespace assay {

/// Notes that a blob is used now, in its time of access, which is set whatever the mount options.
void note_use(const std::filesystem::path& blob);

/// Notes that a tree and the blobs that its files are links to are used now.
void note_use_of_tree(const std::filesystem::path& root);

/// When that was, in ns since 1970, of a blob or a tree.
std::int64_t last_use_unix_ns(const std::filesystem::path& blob_or_tree);

}  // namespace assay
