#include "assay/base/fs.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <random>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "assay/base/abandoned_folders.h"
#include "assay/base/file_descriptor.h"
#include "assay/base/limits.h"
#include "assay/base/result.h"
#include "assay/base/units.h"
#include "assay/base/uuid.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

std::unexpected<Error> fail_from_errno(std::string_view doing, const stdfs::path& path) {
  const int cause = errno;
  const bool is_full = cause == ENOSPC || cause == EDQUOT;
  return fail(code_from_errno(cause),
              fmt::format("cannot {} '{}': {}{}", doing, path.string(), text_from_errno(cause),
                          is_full ? "; free some space or choose another folder" : ""));
}

Status check_is_regular(mode_t mode, const stdfs::path& path) {
  if (S_ISREG(mode)) {
    return {};
  }
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("'{}' is a {}, but a regular file is needed", path.string(),
                          S_ISDIR(mode)    ? "folder"
                          : S_ISFIFO(mode) ? "pipe"
                                           : "device or socket"));
}

std::unexpected<Error> fail_from_size(const stdfs::path& path, std::size_t max_bytes) {
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("'{}' is larger than the limit of {} for such a file", path.string(),
                          text_from_bytes(static_cast<double>(max_bytes))));
}

/// Makes the entries of a folder survive a power failure. File systems without that say so, and
/// have done what they can.
void sync_folder(const stdfs::path& folder) {
  const FileDescriptor file(
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (file.get() >= 0) {
    ::fsync(file.get());
  }
}

Status write_all(int fd, std::string_view content, const stdfs::path& path) {
  while (!content.empty()) {
    const auto written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno != EINTR) {
      return fail_from_errno("write", path);
    }
    content.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace

Result<std::string> read_file(const stdfs::path& path, std::size_t max_bytes) {
  // O_NONBLOCK: opening a pipe that nobody writes would wait; regular files do not heed it.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info{};
  if (file.get() < 0 || ::fstat(file.get(), &info) != 0) {
    return fail_from_errno("read", path);
  }
  ASSAY_RETURN_IF_ERROR(check_is_regular(info.st_mode, path));
  if (static_cast<std::size_t>(info.st_size) > max_bytes) {
    return fail_from_size(path, max_bytes);
  }
  std::string content;
  content.reserve(static_cast<std::size_t>(info.st_size) + 1);
  std::string buffer(1 << 16, '\0');
  while (true) {
    if (content.size() > max_bytes) {
      return fail_from_size(path, max_bytes);
    }
    const auto read = ::read(file.get(), buffer.data(), buffer.size());
    if (read == 0) {
      return content;
    }
    if (read < 0 && errno != EINTR) {
      return fail_from_errno("read", path);
    }
    content.append(buffer.data(), read < 0 ? 0 : static_cast<std::size_t>(read));
  }
}

Status write_file_atomically(const stdfs::path& path, std::string_view content, unsigned mode) {
  std::error_code ignored;
  if (path.has_parent_path()) {
    std::error_code error;
    stdfs::create_directories(path.parent_path(), error);
    if (error && !stdfs::is_directory(path.parent_path(), ignored)) {
      errno = error.value();
      return fail_from_errno("make the folder", path.parent_path());
    }
  }
  auto temporary = path;
  temporary += ".tmp-" + make_uuid7();
  {
    const FileDescriptor file(
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
    if (file.get() < 0) {
      return fail_from_errno("write", path);
    }
    auto status = write_all(file.get(), content, path);
    if (status && ::fsync(file.get()) != 0) {
      status = fail_from_errno("write", path);
    }
    if (!status) {
      stdfs::remove(temporary, ignored);
      return status;
    }
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    auto failure = fail_from_errno("replace", path);
    stdfs::remove(temporary, ignored);
    return failure;
  }
  sync_folder(path.parent_path());
  return {};
}

stdfs::path assay_home() {
  if (const char* home = std::getenv("ASSAY_HOME"); home != nullptr && *home != '\0') {
    return stdfs::absolute(home);
  }
  // A relative one is no valid one and is ignored: XDG Base Directory Specification.
  if (const char* data = std::getenv("XDG_DATA_HOME");
      data != nullptr && stdfs::path(data).is_absolute()) {
    return stdfs::path(data) / "assay";
  }
  const char* user = std::getenv("HOME");
  return stdfs::path(user != nullptr ? user : ".") / ".local" / "share" / "assay";
}

std::int64_t bytes_below(const stdfs::path& path) {
  std::error_code error;
  if (!stdfs::is_directory(path, error)) {
    const auto size = stdfs::file_size(path, error);
    return error ? 0 : static_cast<std::int64_t>(size);
  }
  std::int64_t bytes = 0;
  for (stdfs::recursive_directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code vanished;
    if (entry->is_regular_file(vanished)) {
      const auto size = entry->file_size(vanished);
      bytes += vanished ? 0 : static_cast<std::int64_t>(size);
    }
  }
  return bytes;
}

stdfs::path executable_folder() {
  std::error_code error;
  const auto executable = stdfs::read_symlink("/proc/self/exe", error);
  return error ? stdfs::current_path() : executable.parent_path();
}

namespace {

/// Six letters and digits, as abandoned_folders knows the names of temporary folders.
std::string random_letters() {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  std::random_device source;
  std::uniform_int_distribution<std::size_t> any(0, kLetters.size() - 1);
  std::string letters(6, ' ');
  std::ranges::generate(letters, [&] { return kLetters[any(source)]; });
  return letters;
}

}  // namespace

Result<TemporaryFolder> TemporaryFolder::make(std::string_view prefix) {
  while (true) {
    auto path = temporary_base() / fmt::format("{}.{}", prefix, random_letters());
    ASSAY_ASSIGN_OR_RETURN(const bool is_ours, make_folder_in_use(path));
    if (is_ours) {
      return TemporaryFolder(std::move(path));
    }
  }
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

TemporaryFolder& TemporaryFolder::operator=(TemporaryFolder&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

TemporaryFolder::~TemporaryFolder() {
  if (!path_.empty()) {
    std::error_code ignored;
    stdfs::remove_all(path_, ignored);
    end_use_of_folder(path_);
  }
}

}  // namespace assay
