#include "assay/supervise/last_use.h"

#include <array>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>

namespace assay {

void note_use(const std::filesystem::path& blob) {
  // The time of change stays, by which a damaged file is noticed.
  const std::array<timespec, 2> times{
      {{.tv_sec = 0, .tv_nsec = UTIME_NOW}, {.tv_sec = 0, .tv_nsec = UTIME_OMIT}}};
  ::utimensat(AT_FDCWD, blob.c_str(), times.data(), AT_SYMLINK_NOFOLLOW);
}

void note_use_of_tree(const std::filesystem::path& root) {
  ::utimensat(AT_FDCWD, root.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator entry(root, error), end;
       !error && entry != end; entry.increment(error)) {
    note_use(entry->path());
  }
}

std::int64_t last_use_unix_ns(const std::filesystem::path& blob_or_tree) {
  constexpr std::int64_t kNsPerSecond = 1'000'000'000;
  struct stat info{};
  if (::lstat(blob_or_tree.c_str(), &info) != 0) {
    return 0;
  }
  // Looking into a folder may change its time of access.
  const auto& time = S_ISDIR(info.st_mode) ? info.st_mtim : info.st_atim;
  return time.tv_sec * kNsPerSecond + time.tv_nsec;
}

}  // namespace assay
