#include "assay/base/pipe.h"

#include <array>
#include <cerrno>
#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include "assay/base/file_descriptor.h"
#include "assay/base/limits.h"
#include "assay/base/result.h"

namespace assay {

namespace {

constexpr int kPipeBytes = 1 << 20;

}  // namespace

Result<Pipe> Pipe::make() {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail(ErrorCode::kExhausted,
                fmt::format("cannot make a pipe: {}", text_from_errno(errno)));
  }
  // Fewer switches between its two sides; a refusal changes nothing but that.
  ::fcntl(ends[0], F_SETPIPE_SZ, kPipeBytes);
  return Pipe{.read_end = FileDescriptor(ends[0]), .write_end = FileDescriptor(ends[1])};
}

void put_stream(int file, int place) {
  if (file == place) {
    ::fcntl(file, F_SETFD, 0);
  } else {
    ::dup2(file, place);
  }
}

}  // namespace assay
