#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "assay/base/file_descriptor.h"
#include "assay/base/result.h"

namespace assay {

/// The exclusive right to use a device, across all processes and users of this machine. Advisory:
/// an flock on a file that names its holder. Released with the object, and by the kernel when the
/// process dies.
///
/// Who times owns the device so. Work that would disturb it, such as a build, shares it
/// (DeviceShare), and gives way as soon as somebody waits to own it.
class DeviceLock {
 public:
  struct Options {
    /// Asked every 50 ms while another process holds the device, with a sentence about it; false
    /// gives up. Empty: fail at once.
    std::function<bool(const std::string& holder)> keep_waiting;
    std::filesystem::path folder;  ///< One of this user alone; empty: lock_place().
    /// Any owner is accepted: the folder is in one that the user has chosen for Assay.
    bool takes_any_owner = false;
    std::string work;  ///< Shown to others; empty: this process's command.
  };

  /// `device`: "local", "ssh:lab3", …
  /// Errors: kUnavailable when held and not to wait, kTimeout when `keep_waiting` gave up; both
  /// name the process that holds it. kUnavailable too when the folder cannot be used.
  static Result<DeviceLock> acquire(std::string_view device, const Options& options);

  /// Tells others of another work.
  void tell(const std::string& work) const;

 private:
  explicit DeviceLock(FileDescriptor file) : file_(std::move(file)) {}
  FileDescriptor file_;
};

/// A share of a device for work that may run together with other such work, never during a timing.
/// Released with the object, and when the process and all that inherited the descriptor are dead.
class DeviceShare {
 public:
  struct Options {
    std::string work;              ///< "building toy@0123456789ab", for those who wait.
    std::filesystem::path folder;  ///< One of this user alone; empty: lock_place().
  };

  /// Opens the lock and takes nothing yet. Errors: kUnavailable when the folder cannot be used.
  static Result<DeviceShare> open(std::string_view device, const Options& options);

  /// False while another process owns the device or waits to own it. Does not wait.
  /// Errors: kUnavailable.
  Result<bool> try_take();
  /// True while another process waits to own the device. Errors: kUnavailable.
  [[nodiscard]] Result<bool> is_wanted() const;
  void release();

  /// Children that inherit it hold the share, too.
  [[nodiscard]] int descriptor() const { return file_.get(); }

 private:
  DeviceShare(FileDescriptor file, std::string work)
      : file_(std::move(file)), work_(std::move(work)) {}
  FileDescriptor file_;
  std::string work_;
};

/// Folder of the lock files.
struct LockPlace {
  std::filesystem::path folder;
  bool is_shared = false;  ///< Shared with all users, as /tmp is.
};

/// $ASSAY_RUNTIME_DIR, which is this user's; else /run/lock, where everybody may write to it, else
/// /tmp, else /data/local/tmp, as on a phone. Neither $XDG_RUNTIME_DIR nor $TMPDIR: a login shell
/// has them, a cron job has none, and the two must meet.
LockPlace lock_place();

}  // namespace assay
