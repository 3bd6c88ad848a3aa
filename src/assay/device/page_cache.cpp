#include "assay/device/page_cache.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fmt/core.h>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "assay/base/file_descriptor.h"
#include "assay/base/result.h"

namespace assay {
namespace {

Result<FileDescriptor> open_file(const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) {
    return fail(errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kUnavailable,
                fmt::format("cannot open '{}': {}", path, std::strerror(errno)));
  }
  return file;
}

std::size_t size_of(const FileDescriptor& file) {
  struct stat status{};
  return ::fstat(file.get(), &status) == 0 ? static_cast<std::size_t>(status.st_size) : 0;
}

struct PageCount {
  std::size_t cached = 0;
  std::size_t all = 0;
};

/// Since Linux 5.2 the kernel tells others that all is cached.
bool is_told_of(const std::string& path) {
  struct stat status{};
  return ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0 ||
         (::stat(path.c_str(), &status) == 0 && status.st_uid == ::geteuid());
}

/// Mapping a file does not read it.
std::optional<PageCount> count_pages(const std::string& path) {
  const auto file = open_file(path);
  if (!is_told_of(path)) {
    return std::nullopt;
  }
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const auto size = file ? size_of(*file) : 0;
  if (size == 0) {
    return file ? std::optional(PageCount{}) : std::nullopt;
  }
  void* const mapped = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file->get(), 0);
  if (mapped == MAP_FAILED) {
    return std::nullopt;
  }
  std::vector<unsigned char> states((size + page - 1) / page);
  const bool is_told = ::mincore(mapped, size, states.data()) == 0;
  ::munmap(mapped, size);
  if (!is_told) {
    return std::nullopt;
  }
  const auto is_cached = [](unsigned char state) { return (state & 1U) != 0; };
  return PageCount{.cached = static_cast<std::size_t>(std::ranges::count_if(states, is_cached)),
                   .all = states.size()};
}

}  // namespace

std::optional<double> cached_ratio_of(std::span<const std::string> files) {
  PageCount sum;
  for (const auto& path : files) {
    const auto count = count_pages(path);
    if (!count) {
      return std::nullopt;
    }
    sum.cached += count->cached;
    sum.all += count->all;
  }
  return sum.all == 0
             ? std::nullopt
             : std::optional(static_cast<double>(sum.cached) / static_cast<double>(sum.all));
}

Status drop_from_page_cache(std::span<const std::string> files) {
  for (const auto& path : files) {
    ASSAY_ASSIGN_OR_RETURN(const auto file, open_file(path));
    ::fdatasync(file.get());  // A page that is not written back cannot be dropped.
    if (const int cause = ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED); cause != 0) {
      return fail(ErrorCode::kUnavailable, fmt::format("cannot drop '{}' from the page cache: {}",
                                                       path, std::strerror(cause)));
    }
  }
  return {};
}

Status read_into_page_cache(std::span<const std::string> files) {
  std::vector<std::byte> buffer(1 << 20);
  for (const auto& path : files) {
    ASSAY_ASSIGN_OR_RETURN(const auto file, open_file(path));
    ssize_t count = 0;
    do {
      count = ::read(file.get(), buffer.data(), buffer.size());
    } while (count > 0 || (count < 0 && errno == EINTR));
    if (count < 0) {
      return fail(ErrorCode::kUnavailable,
                  fmt::format("cannot read '{}': {}", path, std::strerror(errno)));
    }
  }
  return {};
}

}  // namespace assay
