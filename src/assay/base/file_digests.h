#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "assay/base/result.h"

namespace assay {

/// SHA-256 of files that change rarely and are large, such as an engine's libraries. A digest is
/// computed once, and kept in a file for as long as path, size, time of change and inode of its
/// file stay the same. A file that changed within the last two seconds is not kept: the clock of
/// the file system may not tell the next change. Not thread-safe; several processes may use one
/// file, and at worst compute a digest again.
class FileDigests {
 public:
  /// Reads what is kept; a file that is absent or damaged is an empty one.
  explicit FileDigests(std::filesystem::path file);

  /// Digest of a file's content. Errors: those of sha256_hex_of_file().
  Result<std::string> digest_of(const std::filesystem::path& path);

  /// Keeps what was computed, without the files that are gone. Errors: those of
  /// write_file_atomically().
  Status write();

 private:
  struct Entry {
    std::uint64_t inode = 0;
    std::int64_t bytes = 0;
    std::int64_t changed_ns = 0;
    std::string sha256;
  };

  std::filesystem::path file_;
  std::map<std::string, Entry> entries_;  ///< Keyed by absolute path.
  bool is_changed_ = false;
};

}  // namespace assay
