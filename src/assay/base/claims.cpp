#include "assay/base/claims.h"

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>

#include "assay/base/digest.h"
#include "assay/base/file_descriptor.h"
#include "assay/base/limits.h"
#include "assay/base/result.h"

namespace assay {
namespace {

struct flock all_names(short kind) {
  struct flock range{};
  range.l_type = kind;
  range.l_whence = SEEK_SET;
  return range;  // From 0, of length 0: to the end of any file.
}

struct flock one_name(std::string_view name, short kind) {
  constexpr std::size_t kHexDigits = 15;
  auto range = all_names(kind);
  range.l_start = std::stoll(sha256_hex(name).substr(0, kHexDigits), nullptr, 16);
  range.l_len = 1;
  return range;
}

std::unexpected<Error> fail_to_claim(std::string_view doing, const std::filesystem::path& path) {
  const int cause = errno;
  return fail(cause == ENOENT ? ErrorCode::kNotFound : ErrorCode::kUnavailable,
              fmt::format("cannot {} '{}', which records the users of runs and cache entries: {}",
                          doing, path.string(), text_from_errno(cause)));
}

/// False where another holds what is in the way.
Result<bool> try_lock_range(int file, struct flock range, const std::filesystem::path& path) {
  while (::fcntl(file, F_OFD_SETLK, &range) != 0) {
    if (errno == EAGAIN || errno == EACCES) {
      return false;
    }
    if (errno != EINTR) {
      return fail_to_claim("lock", path);
    }
  }
  return true;
}

}  // namespace

Result<Claims> Claims::open(const std::filesystem::path& file) {
  std::error_code ignored;
  if (file.has_parent_path()) {
    std::filesystem::create_directories(file.parent_path(), ignored);
  }
  FileDescriptor opened(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!opened.is_open()) {
    return open_existing(file);
  }
  return Claims(std::move(opened), file);
}

Result<Claims> Claims::open_existing(const std::filesystem::path& file) {
  FileDescriptor opened(::open(file.c_str(), O_RDWR | O_CLOEXEC));
  if (!opened.is_open() && errno != ENOENT) {
    opened = FileDescriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  }
  if (!opened.is_open()) {
    return fail_to_claim("open", file);
  }
  return Claims(std::move(opened), file);
}

Status Claims::share(std::string_view name) {
  auto range = one_name(name, F_RDLCK);
  while (::fcntl(file_.get(), F_OFD_SETLKW, &range) != 0) {
    if (errno != EINTR) {
      return fail_to_claim("lock", path_);
    }
  }
  return {};
}

Result<bool> Claims::try_take(std::string_view name) {
  return try_lock_range(file_.get(), one_name(name, F_WRLCK), path_);
}

Result<bool> Claims::try_take_all() {
  return try_lock_range(file_.get(), all_names(F_WRLCK), path_);
}

Status Claims::release(std::string_view name) {
  ASSAY_RETURN_IF_ERROR(try_lock_range(file_.get(), one_name(name, F_UNLCK), path_));
  return {};
}

Status Claims::release_all() {
  ASSAY_RETURN_IF_ERROR(try_lock_range(file_.get(), all_names(F_UNLCK), path_));
  return {};
}

Result<bool> Claims::is_claimed_elsewhere(std::string_view name) const {
  auto range = one_name(name, F_WRLCK);
  if (::fcntl(file_.get(), F_OFD_GETLK, &range) != 0) {
    return fail_to_claim("ask", path_);
  }
  return range.l_type != F_UNLCK;
}

}  // namespace assay
