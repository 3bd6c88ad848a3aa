#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>

#include "assay/base/result.h"

namespace assay {

/// The whole content of a regular file. A pipe or a device, which may have no end, is refused
/// without waiting for it. Errors: kNotFound, kUnavailable; kInvalidArgument for what is no regular
/// file, and for one of more than `max_bytes`.
Result<std::string> read_file(const std::filesystem::path& path,
                              std::size_t max_bytes = std::numeric_limits<std::size_t>::max());

/// Writes next to the target and renames, so that a reader sees the old or the new content, never a
/// part, and so does who reads after a power failure. Makes missing folders. `mode`: permissions of
/// the file. Errors: kUnavailable, kExhausted (disk full).
Status write_file_atomically(const std::filesystem::path& path, std::string_view content,
                             unsigned mode = 0644);

/// Bytes of all files in a folder, or of a file; what cannot be read counts for nothing.
std::int64_t bytes_below(const std::filesystem::path& path);

/// Where Assay keeps its store, registered engines and cache: $ASSAY_HOME, else
/// $XDG_DATA_HOME/assay, else ~/.local/share/assay.
std::filesystem::path assay_home();

/// Folder of the running executable, where the other programs of the installation stand.
std::filesystem::path executable_folder();

/// A folder under the system's temporary folder that is removed with the object.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> make(std::string_view prefix);
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept;
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace assay
