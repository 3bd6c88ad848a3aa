#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <utility>
#include <vector>

#include "assay/base/file_descriptor.h"
#include "assay/base/result.h"

namespace assay {

/// A file that is read in parts, so that a large one is never in memory as a whole.
class FileParts {
 public:
  /// Errors: kNotFound, kUnavailable; kInvalidArgument for what is no regular file.
  static Result<FileParts> open(std::filesystem::path path);

  /// The bytes at `offset`, at most `max_bytes`. Errors: kUnavailable; kCorrupt when the file has
  /// become shorter.
  [[nodiscard]] Result<std::vector<std::byte>> read(std::int64_t offset,
                                                    std::size_t max_bytes) const;

  /// Its size when it was opened.
  [[nodiscard]] std::int64_t total_bytes() const { return total_bytes_; }

 private:
  FileParts(FileDescriptor file, std::filesystem::path path, std::int64_t total_bytes)
      : file_(std::move(file)), path_(std::move(path)), total_bytes_(total_bytes) {}

  FileDescriptor file_;
  std::filesystem::path path_;
  std::int64_t total_bytes_;
};

}  // namespace assay
