#pragma once

#include <filesystem>
#include <functional>
#include <utility>

#include "assay/base/file_descriptor.h"
#include "assay/base/result.h"

namespace assay {

/// The right to build in a folder, across processes: an flock on a file in it. It lasts until the
/// object goes and every process that inherited the descriptor has ended.
class PlaceLock {
 public:
  /// Waits, and tells so once. Makes the file and its folder. Errors: kUnavailable; kTimeout when
  /// `keep_going` gives up.
  static Result<PlaceLock> acquire(const std::filesystem::path& file,
                                   const std::function<bool()>& keep_going);

  [[nodiscard]] bool was_waited_for() const { return was_waited_for_; }
  [[nodiscard]] int descriptor() const { return file_.get(); }

 private:
  PlaceLock(FileDescriptor file, bool was_waited_for)
      : file_(std::move(file)), was_waited_for_(was_waited_for) {}
  FileDescriptor file_;
  bool was_waited_for_;
};

}  // namespace assay
