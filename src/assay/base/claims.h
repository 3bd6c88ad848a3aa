#pragma once

#include <filesystem>
#include <string_view>
#include <utility>

#include "assay/base/file_descriptor.h"
#include "assay/base/result.h"

namespace assay {

/// Claims of processes on things that they share and that have names: stored runs, cached
/// artifacts. Each name locks one byte of an empty file (open file description locks, fcntl(2)), so
/// that the kernel gives up the claims of a process when it dies, and nothing is left to clean up.
///
/// Who uses a thing shares it; who removes it takes it. All claims end with the object. Two objects
/// of one process stand for two users. Not thread-safe. Names are hashed to 62 bits.
class Claims {
 public:
  /// Makes the file and its folder where they are absent; a file that may only be read can be
  /// shared and not taken. Errors: kUnavailable.
  static Result<Claims> open(const std::filesystem::path& file);
  /// Makes nothing. Errors: kNotFound (there is no file, so nothing is claimed), kUnavailable.
  static Result<Claims> open_existing(const std::filesystem::path& file);

  /// Waits while somebody else has taken it, which is brief. Errors: kUnavailable.
  Status share(std::string_view name);
  /// False where somebody else shares it or has taken it. Errors: kUnavailable.
  Result<bool> try_take(std::string_view name);
  /// All names, those that are not used yet, too.
  Result<bool> try_take_all();
  /// Ends this object's claim on the name, of either kind.
  Status release(std::string_view name);
  Status release_all();
  /// True if somebody else shares it or has taken it. Errors: kUnavailable.
  [[nodiscard]] Result<bool> is_claimed_elsewhere(std::string_view name) const;

 private:
  Claims(FileDescriptor file, std::filesystem::path path)
      : file_(std::move(file)), path_(std::move(path)) {}

  FileDescriptor file_;
  std::filesystem::path path_;
};

}  // namespace assay
