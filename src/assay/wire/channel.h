#pragma once

#include <optional>

#include "assay/base/result.h"
#include "assay/wire/frame.h"

namespace assay::wire {

/// Makes writes into a descriptor return rather than wait, which a limit of Channel::send() needs.
void stop_blocking(int write_fd);

/// Frames over two file descriptors (pipes, sockets, files). Blocking; one reader, one writer.
/// Does not own the descriptors.
class Channel {
 public:
  Channel(int read_fd, int write_fd) : read_fd_(read_fd), write_fd_(write_fd) {}

  /// Errors: kCrashed when the other side is gone (never a SIGPIPE), kExhausted on a full disk,
  /// kInvalidArgument for a frame beyond the limits; kTimeout when the other side takes nothing for
  /// `silence_ms` (-1: no limit), which needs a descriptor that does not block. A channel that
  /// timed out is of no further use.
  Status send(const Frame& frame, int silence_ms = -1);

  /// The next frame; nullopt at a clean end. A frame with a type unknown here is delivered.
  /// Errors: kCorrupt (not a frame, truncated), kTimeout after `timeout_ms` (-1: none; it covers
  /// the whole frame, and a channel that timed out inside a frame is of no further use) and when
  /// nothing arrives for `silence_ms` (-1: no limit).
  Result<std::optional<Frame>> receive(int timeout_ms = -1, int silence_ms = -1);

 private:
  int read_fd_;
  int write_fd_;
};

}  // namespace assay::wire
