#include "assay/supervise/file_parts.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "assay/base/file_descriptor.h"
#include "assay/base/limits.h"
#include "assay/base/result.h"

namespace assay {

Result<FileParts> FileParts::open(std::filesystem::path path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info{};
  if (!file.is_open() || ::fstat(file.get(), &info) != 0) {
    const int cause = errno;
    return fail(code_from_errno(cause),
                fmt::format("cannot read '{}': {}", path.string(), text_from_errno(cause)));
  }
  if (!S_ISREG(info.st_mode)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is not a regular file", path.string()));
  }
  return FileParts(std::move(file), std::move(path), info.st_size);
}

Result<std::vector<std::byte>> FileParts::read(std::int64_t offset, std::size_t max_bytes) const {
  const auto left = static_cast<std::size_t>(std::max<std::int64_t>(total_bytes_ - offset, 0));
  std::vector<std::byte> part(std::min(left, max_bytes));
  for (std::size_t done = 0; done < part.size();) {
    const auto count = ::pread(file_.get(), part.data() + done, part.size() - done,
                               offset + static_cast<std::int64_t>(done));
    if (count == 0) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("'{}' became shorter while it was read", path_.string()));
    }
    if (count < 0 && errno != EINTR) {
      return fail(ErrorCode::kUnavailable,
                  fmt::format("cannot read '{}': {}", path_.string(), text_from_errno(errno)));
    }
    done += count < 0 ? 0 : static_cast<std::size_t>(count);
  }
  return part;
}

}  // namespace assay
