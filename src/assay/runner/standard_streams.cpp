#include "assay/runner/standard_streams.h"

#include <cerrno>
#include <fmt/format.h>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "assay/base/result.h"

namespace assay {
namespace {

/// Above what a library would take for a standard stream.
constexpr int kLowestCopy = 10;

std::string reason() { return std::system_category().message(errno); }

Status redirect(int target, int source) {
  if (source < 0 || ::dup2(source, target) < 0) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("cannot redirect descriptor {}: {}", target, reason()));
  }
  return {};
}

Result<int> open_file(const char* path, int flags) {
  const int fd = ::open(path, flags | O_CLOEXEC, 0644);
  if (fd < 0) {
    const auto code = errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kUnavailable;
    return fail(code, fmt::format("cannot open {}: {}", path, reason()));
  }
  return fd;
}

}  // namespace

Result<WireDescriptors> take_standard_streams() {
  const WireDescriptors wire{.read_fd = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, kLowestCopy),
                             .write_fd = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, kLowestCopy)};
  if (wire.read_fd < 0 || wire.write_fd < 0) {
    return fail(ErrorCode::kUnavailable,
                "stdin and stdout must be open: they carry the wire; " + reason());
  }
  ASSAY_ASSIGN_OR_RETURN(const int nothing, open_file("/dev/null", O_RDONLY));
  ASSAY_RETURN_IF_ERROR(redirect(STDIN_FILENO, nothing));
  ::close(nothing);
  ASSAY_RETURN_IF_ERROR(redirect(STDOUT_FILENO, STDERR_FILENO));
  return wire;
}

Result<WireDescriptors> open_job_files(const char* in, const char* out) {
  WireDescriptors wire;
  ASSAY_ASSIGN_OR_RETURN(wire.read_fd, open_file(in, O_RDONLY));
  ASSAY_ASSIGN_OR_RETURN(wire.write_fd, open_file(out, O_WRONLY | O_CREAT | O_TRUNC));
  return wire;
}

}  // namespace assay
