#pragma once

#include <cstdint>
#include <filesystem>

namespace assay::sqlite {

/// Sizes and times that change when somebody writes to the file of a store or to the log next to
/// it.
struct FileState {
  std::int64_t bytes = -1;  ///< Negative: there is no file.
  std::int64_t changed_ns = 0;
  std::uint64_t inode = 0;
  std::int64_t log_bytes = 0;  ///< FILE-wal; 0 if there is none.

  bool operator==(const FileState&) const = default;
  /// The file itself is as it was, whatever was written to the log.
  [[nodiscard]] bool has_same_file(const FileState& other) const;
};

FileState state_of_file(const std::filesystem::path& path);

/// A file whose readers look whether it stays as it is: it is read without locks, or was copied.
struct WatchedFile {
  std::filesystem::path path;
  FileState state;
  bool is_copied = false;
  int cursors = 0;  ///< Statements that read it or its copy.

  /// True if what is read may be a mixture.
  [[nodiscard]] bool has_changed_below() const {
    return !is_copied && !state_of_file(path).has_same_file(state);
  }
};

}  // namespace assay::sqlite
