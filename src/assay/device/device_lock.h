#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "assay/base/file_descriptor.h"
#include "assay/base/result.h"

namespace assay {

/// The exclusive right to use a device, across all processes of this user. Advisory: an flock on a
/// file that names its holder. Released with the object, and by the kernel when the process dies.
class DeviceLock {
 public:
  struct Options {
    /// Asked every 50 ms while another process holds the device, with a sentence about it; false
    /// gives up. Empty: fail at once.
    std::function<bool(const std::string& holder)> keep_waiting;
    std::filesystem::path folder;  ///< Empty: lock_folder().
  };

  /// `device`: "local", "ssh:lab3", …
  /// Errors: kUnavailable when held and not to wait, kTimeout when `keep_waiting` gave up; both
  /// name the process that holds it. kUnavailable too when the folder cannot be used.
  static Result<DeviceLock> acquire(std::string_view device, const Options& options);

 private:
  explicit DeviceLock(FileDescriptor file) : file_(std::move(file)) {}
  FileDescriptor file_;
};

/// $ASSAY_RUNTIME_DIR, else /tmp/assay-<uid>. Neither $XDG_RUNTIME_DIR nor $TMPDIR: a login shell
/// has them, a cron job has none, and the two must meet.
std::filesystem::path lock_folder();

}  // namespace assay
