#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <sys/types.h>

namespace assay {

/// Tells whether files have a content, and reads each only once until it changes: whatever its
/// names, a file is known by its inode, size and time of change. Not thread-safe.
class CheckedFiles {
 public:
  /// True if `path` is a regular file, not a link to one, with this SHA-256.
  bool has_digest(const std::filesystem::path& path, std::string_view sha256);

 private:
  struct Checked {
    std::int64_t bytes = 0;
    std::int64_t modified_ns = 0;
    std::string sha256;
  };
  std::map<std::pair<dev_t, ino_t>, Checked> files_;
};

}  // namespace assay
