#include "assay/campaign/program_watch.h"

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <string>

#include <sys/stat.h>
#include <unistd.h>

#include "assay/base/digest.h"
#include "assay/base/log.h"
#include "assay/engine/program_places.h"
#include "assay/record/artifact_role.h"
#include "assay/record/subject.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

std::int64_t ns_from_timespec(const timespec& time) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  return time.tv_sec * kSecond + time.tv_nsec;
}

bool is_executable(const std::string& path) { return ::access(path.c_str(), X_OK) == 0; }

bool is_place(const std::string& path, const stdfs::path& program) {
  const auto places = read_program_places(program);
  return places && std::ranges::any_of(*places, [&path](const auto& place) {
           return stdfs::path(place.second).lexically_normal() == path;
         });
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
  const auto expected =
      file.sha256.empty() && digest ? first_.try_emplace(path, *digest).first->second : file.sha256;
  if (digest && *digest == expected) {
    known_[path] = *stamp;
    return {};
  }
  return fmt::format(
      "'{}' changed while it was measured: its SHA-256 was {} and is {} now; measure it again",
      path, expected.substr(0, 12), digest ? digest->substr(0, 12) : digest.error().message);
}

std::string ProgramWatch::find_change(const Artifact& artifact) {
  const stdfs::path folder(artifact.folder);
  for (const auto& file : artifact.files) {
    const auto path = (folder / file.name).string();
    if (written_.contains(path)) {
      continue;
    }
    if (auto change = find_change(path, file); !change.empty()) {
      return change;
    }
  }
  return {};
}

std::string ProgramWatch::find_change_by_launch(const Artifact& artifact) {
  const stdfs::path folder(artifact.folder);
  for (const auto& file : artifact.files) {
    const auto path = (folder / file.name).string();
    if (file.role != kNamedRole || written_.contains(path) || find_change(path, file).empty()) {
      continue;
    }
    if (!is_executable(path) && !is_place(path, folder / artifact.entry)) {
      written_.insert(path);
      log_line(LogLevel::kWarning,
               fmt::format("'{}' changed while {} ran, so it is taken for a file that the command "
                           "writes and is watched no longer: name it in \"read_files\", or let the "
                           "command write to {{scratch:NAME}}",
                           path, artifact.entry));
    }
  }
  return find_change(artifact);
}

}  // namespace assay
