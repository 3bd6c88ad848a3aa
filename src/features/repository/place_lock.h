#pragma once

#include <filesystem>
#include <functional>
#include <utility>

#include "assay/base/file_descriptor.h"
#include "assay/base/result.h"

namespace assay {

/// The right to build in a folder, across processes: an flock on a file in it. It lasts until the
/// object goes; where this process is killed, until every one that inherited the descriptor has
/// ended.
class PlaceLock {
 public:
  /// Waits, and tells so once. Makes the file and its folder. Errors: kUnavailable; kTimeout when
  /// `keep_going` gives up.
  static Result<PlaceLock> acquire(const std::filesystem::path& file,
                                   const std::function<bool()>& keep_going);

  PlaceLock(PlaceLock&& other) noexcept = default;
  PlaceLock& operator=(PlaceLock&& other) = delete;
  PlaceLock(const PlaceLock&) = delete;
  PlaceLock& operator=(const PlaceLock&) = delete;
  /// A server that a build has started may hold the descriptor for days.
  ~PlaceLock();

  [[nodiscard]] bool was_waited_for() const { return was_waited_for_; }
  [[nodiscard]] int descriptor() const { return file_.get(); }

 private:
  PlaceLock(FileDescriptor file, bool was_waited_for)
      : file_(std::move(file)), was_waited_for_(was_waited_for) {}
  FileDescriptor file_;
  bool was_waited_for_;
};

}  // namespace assay
