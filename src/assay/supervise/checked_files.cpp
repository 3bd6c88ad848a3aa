#include "assay/supervise/checked_files.h"

#include <cstdint>
#include <filesystem>
#include <string_view>

#include <sys/stat.h>

#include "assay/base/digest.h"

namespace assay {

bool CheckedFiles::has_digest(const std::filesystem::path& path, std::string_view sha256) {
  constexpr std::int64_t kNsPerSecond = 1'000'000'000;
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return false;
  }
  const std::int64_t modified_ns = info.st_mtim.tv_sec * kNsPerSecond + info.st_mtim.tv_nsec;
  auto& checked = files_[{info.st_dev, info.st_ino}];
  if (checked.sha256.empty() || checked.bytes != info.st_size ||
      checked.modified_ns != modified_ns) {
    checked = {.bytes = info.st_size,
               .modified_ns = modified_ns,
               .sha256 = sha256_hex_of_file(path).value_or("")};
  }
  return checked.sha256 == sha256;
}

}  // namespace assay
