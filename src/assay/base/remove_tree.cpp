#include "assay/base/remove_tree.h"

#include <filesystem>
#include <fmt/format.h>
#include <system_error>

#include "assay/base/result.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

/// Before an iterator enters it.
void allow_owner(const stdfs::path& folder) {
  std::error_code ignored;
  stdfs::permissions(folder, stdfs::perms::owner_all,
                     stdfs::perm_options::add | stdfs::perm_options::nofollow, ignored);
}

}  // namespace

void make_folders_writable(const stdfs::path& path) {
  std::error_code error;
  if (!stdfs::is_directory(stdfs::symlink_status(path, error))) {
    return;
  }
  allow_owner(path);
  constexpr auto kOptions = stdfs::directory_options::skip_permission_denied;
  for (stdfs::recursive_directory_iterator entry(path, kOptions, error), end;
       !error && entry != end; entry.increment(error)) {
    std::error_code gone;
    if (stdfs::is_directory(entry->symlink_status(gone))) {
      allow_owner(entry->path());
    }
  }
}

Status remove_tree(const stdfs::path& path) {
  std::error_code error;
  stdfs::remove_all(path, error);
  if (error) {
    make_folders_writable(path);
    stdfs::remove_all(path, error);
  }
  return error ? fail(ErrorCode::kUnavailable,
                      fmt::format("cannot remove '{}': {}", path.string(), error.message()))
               : Status();
}

Status make_folder(const stdfs::path& path) {
  std::error_code error;
  stdfs::create_directories(path, error);
  return error ? fail(ErrorCode::kUnavailable, fmt::format("cannot make the folder '{}': {}",
                                                           path.string(), error.message()))
               : Status();
}

Status empty_folder(const stdfs::path& path) {
  ASSAY_RETURN_IF_ERROR(remove_tree(path));
  return make_folder(path);
}

}  // namespace assay
