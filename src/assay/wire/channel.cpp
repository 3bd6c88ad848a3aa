#include "assay/wire/channel.h"

#include <algorithm>
#include <array>
#include <asm-generic/errno.h>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>
#include <fmt/format.h>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "assay/base/result.h"
#include "assay/wire/frame.h"
#include "assay/wire/sigpipe_guard.h"

namespace assay::wire {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// A point in time, or none.
class Deadline {
 public:
  explicit Deadline(int timeout_ms)
      : is_set_(timeout_ms >= 0),
        end_(SteadyClock::now() + std::chrono::milliseconds(std::max(timeout_ms, 0))) {}

  /// Timeout of poll(): milliseconds left, rounded up; -1 without a deadline.
  [[nodiscard]] int left_ms() const {
    if (!is_set_) {
      return -1;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - SteadyClock::now());
    return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
  }

 private:
  bool is_set_;
  SteadyClock::time_point end_;
};

/// Limits of the time for a whole frame and of the time in which no byte moves; -1: none.
class Patience {
 public:
  Patience(int timeout_ms, int silence_ms) : deadline_(timeout_ms), silence_ms_(silence_ms) {}

  /// Timeout of poll().
  [[nodiscard]] int wait_ms() const {
    const int left_ms = deadline_.left_ms();
    return silence_ms_ < 0 || (left_ms >= 0 && left_ms < silence_ms_) ? left_ms : silence_ms_;
  }
  /// Why a wait of wait_ms() was in vain.
  [[nodiscard]] std::unexpected<Error> failure() const {
    if (deadline_.left_ms() == 0) {
      return fail(ErrorCode::kTimeout, "no answer in time");
    }
    constexpr double kMsPerSecond = 1000;
    return fail(ErrorCode::kTimeout,
                fmt::format("no sign of life for {:g} s", silence_ms_ / kMsPerSecond));
  }

 private:
  Deadline deadline_;
  int silence_ms_;
};

Status wait_until_ready(int fd, short events, const Patience& patience) {
  while (true) {
    pollfd entry{.fd = fd, .events = events, .revents = 0};
    const int ready = ::poll(&entry, 1, patience.wait_ms());
    if (ready > 0) {
      return {};
    }
    if (ready == 0) {
      return patience.failure();
    }
    if (errno != EINTR) {
      return fail(ErrorCode::kUnavailable, fmt::format("cannot poll: {}", std::strerror(errno)));
    }
  }
}

std::unexpected<Error> failure_of_write(int cause) {
  switch (cause) {
    case EPIPE:
    case ECONNRESET:
      return fail(ErrorCode::kCrashed, "the other side of the channel is gone");
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return fail(ErrorCode::kExhausted, "no space left to write a frame; free some disk space");
    default:
      return fail(ErrorCode::kUnavailable,
                  fmt::format("cannot write a frame: {}", std::strerror(cause)));
  }
}

Status write_all(int fd, std::span<const std::byte> bytes, const Patience& patience) {
  while (!bytes.empty()) {
    const auto written = ::write(fd, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      ASSAY_RETURN_IF_ERROR(wait_until_ready(fd, POLLOUT, patience));
    } else if (errno != EINTR) {
      return failure_of_write(errno);
    }
  }
  return {};
}

/// Reads at most `bytes.size()` once; 0 at the end.
Result<std::size_t> read_some(int fd, std::span<std::byte> bytes, const Patience& patience) {
  while (true) {
    ASSAY_RETURN_IF_ERROR(wait_until_ready(fd, POLLIN, patience));
    const auto count = ::read(fd, bytes.data(), bytes.size());
    if (count >= 0) {
      return static_cast<std::size_t>(count);
    }
    if (errno == ECONNRESET) {
      return fail(ErrorCode::kCrashed, "the other side of the channel is gone");
    }
    if (errno != EINTR && errno != EAGAIN) {
      return fail(ErrorCode::kUnavailable,
                  fmt::format("cannot read a frame: {}", std::strerror(errno)));
    }
  }
}

/// Reads until `bytes` is full or the stream ends; returns how many.
Result<std::size_t> read_until_full(int fd, std::span<std::byte> bytes, const Patience& patience) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    ASSAY_ASSIGN_OR_RETURN(const auto count, read_some(fd, bytes.subspan(done), patience));
    if (count == 0) {
      break;
    }
    done += count;
  }
  return done;
}

/// Reads a part of a payload. Grows with what arrives, so that an announced length costs nothing.
Result<std::vector<std::byte>> read_part(int fd, std::uint64_t wanted, const Patience& patience) {
  constexpr std::uint64_t kPieceBytes = 16ULL << 20;
  std::vector<std::byte> part;
  while (part.size() < wanted) {
    const auto start = part.size();
    part.resize(start + std::min<std::uint64_t>(wanted - start, kPieceBytes));
    const auto piece = std::span(part).subspan(start);
    ASSAY_ASSIGN_OR_RETURN(const auto count, read_until_full(fd, piece, patience));
    if (count < piece.size()) {
      return fail(ErrorCode::kCorrupt, "truncated frame: the stream ended inside it");
    }
  }
  return part;
}

}  // namespace

void stop_blocking(int write_fd) {
  const int flags = ::fcntl(write_fd, F_GETFL);
  if (flags >= 0) {
    ::fcntl(write_fd, F_SETFL, flags | O_NONBLOCK);
  }
}

Status Channel::send(const Frame& frame, int silence_ms) {
  if (frame.blob.size() > kMaxBlobBytes) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("a blob of {} bytes is too large for one frame; at most {}",
                            frame.blob.size(), kMaxBlobBytes));
  }
  const auto head = bytes_before_blob(frame);
  if (head.size() - kHeaderBytes > kMaxJsonBytes) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("a message of {} bytes is too large for one frame; at most {}, put "
                            "data into the blob",
                            head.size() - kHeaderBytes, kMaxJsonBytes));
  }
  const SigpipeGuard guard;
  const Patience patience(-1, silence_ms);
  ASSAY_RETURN_IF_ERROR(write_all(write_fd_, head, patience));
  return write_all(write_fd_, frame.blob, patience);
}

Result<std::optional<Frame>> Channel::receive(int timeout_ms, int silence_ms) {
  const Patience patience(timeout_ms, silence_ms);
  std::array<std::byte, kHeaderBytes> head{};
  ASSAY_ASSIGN_OR_RETURN(const auto count, read_until_full(read_fd_, head, patience));
  if (count == 0) {
    return std::nullopt;
  }
  if (count < head.size()) {
    return fail(ErrorCode::kCorrupt, "truncated frame: the stream ended inside it");
  }
  ASSAY_ASSIGN_OR_RETURN(const auto header, header_from_bytes(head));
  ASSAY_ASSIGN_OR_RETURN(const auto json, read_part(read_fd_, header.json_bytes, patience));
  ASSAY_ASSIGN_OR_RETURN(auto blob, read_part(read_fd_, header.blob_bytes, patience));
  ASSAY_ASSIGN_OR_RETURN(auto frame, frame_from_parts(header, json, std::move(blob)));
  return std::optional(std::move(frame));
}

}  // namespace assay::wire
