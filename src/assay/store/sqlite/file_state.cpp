#include "assay/store/sqlite/file_state.h"

#include <cstdint>
#include <filesystem>

#include <sys/stat.h>

namespace assay::sqlite {

bool FileState::has_same_file(const FileState& other) const {
  return bytes == other.bytes && changed_ns == other.changed_ns && inode == other.inode;
}

FileState state_of_file(const std::filesystem::path& path) {
  constexpr std::int64_t kSecondNs = 1'000'000'000;
  FileState state;
  struct stat found = {};
  if (::stat(path.c_str(), &found) == 0) {
    state.bytes = found.st_size;
    state.changed_ns = found.st_mtim.tv_sec * kSecondNs + found.st_mtim.tv_nsec;
    state.inode = found.st_ino;
  }
  if (::stat((path.string() + "-wal").c_str(), &found) == 0) {
    state.log_bytes = found.st_size;
  }
  return state;
}

}  // namespace assay::sqlite
