#include "assay/campaign/program_watch.h"

#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <string>

#include <sys/stat.h>

#include "assay/base/digest.h"
#include "assay/record/subject.h"

namespace assay {
namespace {

std::int64_t ns_from_timespec(const timespec& time) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  return time.tv_sec * kSecond + time.tv_nsec;
}

}  // namespace

std::optional<ProgramWatch::Stamp> ProgramWatch::stamp_of_file(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) {
    return std::nullopt;
  }
  return Stamp{.device = status.st_dev,
               .inode = status.st_ino,
               .bytes = status.st_size,
               .modified_ns = ns_from_timespec(status.st_mtim),
               .changed_ns = ns_from_timespec(status.st_ctim)};
}

std::string ProgramWatch::find_change(const std::string& path, const ArtifactFile& file) {
  const auto stamp = stamp_of_file(path);
  if (!stamp) {
    return fmt::format("'{}' was removed while it was measured", path);
  }
  const auto known = known_.find(path);
  if (known != known_.end() && known->second == *stamp) {
    return {};
  }
  const auto digest = sha256_hex_of_file(path);
  if (digest && *digest == file.sha256) {
    known_[path] = *stamp;
    return {};
  }
  return fmt::format(
      "'{}' changed while it was measured: its SHA-256 was {} and is {} now; measure it again",
      path, file.sha256.substr(0, 12), digest ? digest->substr(0, 12) : digest.error().message);
}

std::string ProgramWatch::find_change(const Artifact& artifact) {
  const std::filesystem::path folder(artifact.folder);
  for (const auto& file : artifact.files) {
    if (auto change = find_change((folder / file.name).string(), file); !change.empty()) {
      return change;
    }
  }
  return {};
}

}  // namespace assay
