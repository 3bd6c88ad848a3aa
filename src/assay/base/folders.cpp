#include "assay/base/folders.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

namespace assay {

namespace stdfs = std::filesystem;

std::vector<stdfs::path> folders_in(const stdfs::path& folder) {
  std::vector<stdfs::path> folders;
  std::error_code error;
  for (stdfs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code vanished;
    if (entry->is_directory(vanished)) {
      folders.push_back(entry->path());
    }
  }
  return folders;
}

std::vector<stdfs::path> entries_with(const stdfs::path& folder, std::string_view prefix) {
  std::vector<stdfs::path> entries;
  std::error_code error;
  for (stdfs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().filename().string().starts_with(prefix)) {
      entries.push_back(entry->path());
    }
  }
  return entries;
}

std::int64_t modified_unix_ns(const stdfs::path& path) {
  std::error_code error;
  const auto time = stdfs::last_write_time(path, error);
  const auto since_epoch = std::chrono::file_clock::to_sys(time).time_since_epoch();
  return error ? 0 : std::chrono::duration_cast<std::chrono::nanoseconds>(since_epoch).count();
}

}  // namespace assay
