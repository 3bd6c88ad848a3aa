#include "assay/base/abandoned_folders.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "assay/base/file_descriptor.h"
#include "assay/base/limits.h"
#include "assay/base/result.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

/// Folders of this process with the descriptors that hold their locks.
struct UsedFolders {
  std::mutex mutex;
  std::map<stdfs::path, FileDescriptor> locks;
};

UsedFolders& used_folders() {
  static UsedFolders folders;
  return folders;
}

/// The permissions of a marked folder. Nobody sets the sticky bit on a folder that only the owner
/// may enter, so no folder of the user's own has them.
constexpr mode_t kMarkedMode = S_ISVTX | S_IRWXU;

FileDescriptor open_folder(const stdfs::path& folder) {
  return FileDescriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

bool is_random_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// "assay-jobs.Ab3xY9"
bool is_name_of_temporary_folder(std::string_view name) {
  constexpr std::size_t kRandomLetters = 6;
  const auto dot = name.rfind('.');
  return name.starts_with("assay-") && dot != std::string_view::npos &&
         name.size() - dot - 1 == kRandomLetters &&
         std::ranges::all_of(name.substr(dot + 1), is_random_letter);
}

/// A marked folder of this user that no process has locked.
bool is_abandoned(const FileDescriptor& folder) {
  struct stat info{};
  return folder.is_open() && ::fstat(folder.get(), &info) == 0 && info.st_uid == ::geteuid() &&
         (info.st_mode & ALLPERMS) == kMarkedMode && ::flock(folder.get(), LOCK_EX | LOCK_NB) == 0;
}

}  // namespace

stdfs::path temporary_base() {
  std::error_code error;
  auto base = stdfs::temp_directory_path(error);
  return error ? stdfs::path("/tmp") : base;
}

Result<bool> make_folder_in_use(const stdfs::path& folder) {
  const auto fail_to = [&folder](std::string_view what, int cause) {
    return fail(code_from_errno(cause), fmt::format("cannot {} the folder '{}': {}", what,
                                                    folder.string(), text_from_errno(cause)));
  };
  // Where the file system keeps no such bit, the folder stays after a kill.
  if (::mkdir(folder.c_str(), kMarkedMode) != 0) {
    return errno == EEXIST ? Result<bool>(false) : fail_to("make", errno);
  }
  auto lock = open_folder(folder);
  if (!lock.is_open() && errno != ENOENT) {
    return fail_to("open", errno);
  }
  if (lock.is_open()) {
    // Waits for who is about to remove it; where the file system knows no such locks, nobody is.
    ::flock(lock.get(), LOCK_SH);
  }
  std::error_code error;
  const bool is_ours = lock.is_open() && stdfs::exists(folder, error);
  if (is_ours) {
    auto& used = used_folders();
    const std::lock_guard guard(used.mutex);
    used.locks.insert_or_assign(folder, std::move(lock));
  }
  return is_ours;
}

void end_use_of_folder(const stdfs::path& folder) {
  auto& used = used_folders();
  const std::lock_guard guard(used.mutex);
  used.locks.erase(folder);
}

int remove_abandoned_folders() {
  int removed = 0;
  std::error_code error;
  for (stdfs::directory_iterator entry(temporary_base(), error), end; !error && entry != end;
       entry.increment(error)) {
    if (!is_name_of_temporary_folder(entry->path().filename().string())) {
      continue;
    }
    const auto folder = open_folder(entry->path());
    if (is_abandoned(folder)) {
      std::error_code ignored;
      stdfs::remove_all(entry->path(), ignored);
      removed += ignored ? 0 : 1;
    }
  }
  return removed;
}

}  // namespace assay
