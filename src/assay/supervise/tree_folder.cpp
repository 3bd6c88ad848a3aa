#include "assay/supervise/tree_folder.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "assay/base/file_descriptor.h"
#include "assay/base/result.h"
#include "assay/base/uuid.h"
#include "assay/supervise/blob_folder.h"
#include "assay/supervise/storage_space.h"
#include "assay/wire/agent_messages.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

constexpr mode_t kExecutableBits = 0111;
constexpr mode_t kExecutableMode = 0755;
constexpr mode_t kFileMode = 0644;

/// -1: there is no such file.
int executable_bits_of(const stdfs::path& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 ? static_cast<int>(info.st_mode & kExecutableBits) : -1;
}

bool has_mode_of(const wire::TreeFile& file, const stdfs::path& path) {
  const int bits = executable_bits_of(path);
  return file.is_executable ? (bits & S_IXUSR) != 0 : bits == 0;
}

/// 0 or an errno. That of a full disk is told, which std::filesystem::copy_file turns into another.
int copy_bytes(int from, int to) {
  std::vector<char> buffer(1 << 20);
  while (true) {
    const auto count = ::read(from, buffer.data(), buffer.size());
    if (count == 0) {
      return 0;
    }
    for (ssize_t done = 0; done < count;) {
      const auto written =
          ::write(to, buffer.data() + done, static_cast<std::size_t>(count - done));
      if (written < 0 && errno != EINTR) {
        return errno;
      }
      done += std::max<ssize_t>(written, 0);
    }
    if (count < 0 && errno != EINTR) {
      return errno;
    }
  }
}

/// 0 or an errno. `target`: a file that is not there yet.
int copy_blob(const stdfs::path& blob, const stdfs::path& target, mode_t mode) {
  const FileDescriptor from(::open(blob.c_str(), O_RDONLY | O_CLOEXEC));
  const FileDescriptor to(::open(target.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (!from.is_open() || !to.is_open()) {
    return errno;
  }
  const int cause = copy_bytes(from.get(), to.get());
  // The mask of this process may have taken permissions away.
  return cause == 0 && ::fchmod(to.get(), mode) != 0 ? errno : cause;
}

/// 0 or an errno.
int place_blob(const stdfs::path& blob, const stdfs::path& target, bool is_executable) {
  std::error_code error;
  stdfs::create_directories(target.parent_path(), error);
  if (error) {
    return error.value();
  }
  const bool is_shareable = !is_executable && executable_bits_of(blob) == 0;
  if (is_shareable && ::link(blob.c_str(), target.c_str()) == 0) {
    return 0;
  }
  return copy_blob(blob, target, is_executable ? kExecutableMode : kFileMode);
}

/// Leaves nothing of the tree when it fails, so that the free bytes that are told do not miss its
/// own.
Status fill_tree(const stdfs::path& root, const wire::Tree& tree, const BlobFolder& blobs) {
  for (const auto& file : tree.files) {
    ASSAY_ASSIGN_OR_RETURN(const auto blob, blobs.path_of(file.sha256));
    if (const int cause = place_blob(blob, root / file.path, file.is_executable); cause != 0) {
      std::error_code ignored;
      const auto bytes = stdfs::file_size(blob, ignored);
      stdfs::remove_all(root, ignored);
      return failure_to_store(cause, fmt::format("file '{}' of a tree", file.path),
                              static_cast<std::int64_t>(bytes), root.parent_path());
    }
  }
  return {};
}

/// A name next to the tree's, which no reader takes for a tree.
stdfs::path name_beside(const stdfs::path& root) {
  return fmt::format("{}.part-{}", root.string(), make_uuid7());
}

/// Changes the names of two trees at once, so that each is always there; false where the file
/// system cannot, or one of them is not there.
bool swap_names(const stdfs::path& from, const stdfs::path& to) {
  return ::syscall(SYS_renameat2, AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) ==
         0;
}

/// Gives a tree its name. What had it goes.
Status rename_tree(const stdfs::path& from, const stdfs::path& to) {
  if (::rename(from.c_str(), to.c_str()) == 0 || swap_names(from, to)) {
    return {};
  }
  const auto old = name_beside(to);
  ::rename(to.c_str(), old.c_str());
  const bool is_renamed = ::rename(from.c_str(), to.c_str()) == 0;
  const int cause = errno;
  std::error_code ignored;
  stdfs::remove_all(old, ignored);
  return is_renamed ? Status() : failure_to_store(cause, "a tree", 0, to.parent_path());
}

}  // namespace

bool TreeFolder::has(const wire::Tree& tree) {
  const auto root = path_of(tree);
  return std::ranges::all_of(tree.files, [&](const wire::TreeFile& file) {
    const auto path = root / file.path;
    return checked_.has_digest(path, file.sha256) && has_mode_of(file, path);
  });
}

Status TreeFolder::make(const wire::Tree& tree, const BlobFolder& blobs) {
  const auto root = path_of(tree);
  const auto temporary = name_beside(root);
  auto status = fill_tree(temporary, tree, blobs);
  if (status && !has(tree)) {  // Another agent may have made the same tree meanwhile.
    status = rename_tree(temporary, root);
  }
  std::error_code ignored;
  stdfs::remove_all(temporary, ignored);
  return status || has(tree) ? Status() : status;
}

}  // namespace assay
