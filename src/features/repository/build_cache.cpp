#include "features/repository/build_cache.h"

#include "features/repository/build_entry.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/base/claims.h"
#include "assay/base/folders.h"
#include "assay/base/fs.h"
#include "assay/base/log.h"
#include "assay/base/remove_tree.h"
#include "assay/base/result.h"
#include "assay/base/uuid.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

Status fail_to_keep(const stdfs::path& folder, const std::error_code& error) {
  const bool is_full = error == std::errc::no_space_on_device;
  return fail(is_full ? ErrorCode::kExhausted : ErrorCode::kUnavailable,
              fmt::format("cannot keep a build in '{}': {}; free some space, or set ASSAY_HOME to "
                          "another folder",
                          folder.string(), error.message()));
}

}  // namespace

stdfs::path builds_folder(const stdfs::path& home) { return home / "builds"; }

stdfs::path BuildCache::folder_of(std::string_view key) const {
  return folder_ / key.substr(0, 2) / key;
}

void BuildCache::claim(std::string_view key) const {
  if (!*claims_) {
    if (auto opened = Claims::open(claims_file())) {
      *claims_ = *std::move(opened);
    }
  }
  if (*claims_) {
    [[maybe_unused]] const auto status = (*claims_)->share(key);
  }
}

Result<std::optional<BuildEntry>> BuildCache::find(std::string_view key) const {
  claim(key);
  const auto folder = folder_of(key);
  auto entry = read_build_entry(folder);
  if (entry) {
    std::error_code ignored;
    stdfs::last_write_time(folder, stdfs::file_time_type::clock::now(), ignored);
    return *std::move(entry);
  }
  if (entry.error().code == ErrorCode::kNotFound && !stdfs::exists(folder)) {
    return std::nullopt;
  }
  log_line(LogLevel::kWarning, "a cached build is damaged: " + entry.error().message);
  ASSAY_RETURN_IF_ERROR(remove(key));
  return std::nullopt;
}

Result<stdfs::path> BuildCache::make_staging(std::string_view key) const {
  const auto name = fmt::format("{}-{}", key.substr(0, 16), make_uuid7());
  claim(name);
  auto staging = staging_folder() / name;
  std::error_code error;
  stdfs::create_directories(staging, error);
  if (error) {
    ASSAY_RETURN_IF_ERROR(fail_to_keep(staging, error));
  }
  return staging;
}

Status BuildCache::adopt(std::string_view key, const stdfs::path& staging) const {
  claim(key);
  ASSAY_RETURN_IF_ERROR(remove(key));
  const auto folder = folder_of(key);
  std::error_code error;
  stdfs::create_directories(folder.parent_path(), error);
  stdfs::rename(staging, folder, error);
  return error ? fail_to_keep(folder, error) : Status();
}

/// Takes the folder out of sight at once, then removes it: nobody finds half an entry.
Status BuildCache::remove(std::string_view key) const {
  const auto folder = folder_of(key);
  std::error_code error;
  if (!stdfs::exists(folder, error)) {
    return {};
  }
  const auto aside = staging_folder() / ("removed-" + make_uuid7());
  stdfs::create_directories(staging_folder(), error);
  stdfs::rename(folder, aside, error);
  return remove_tree(error ? folder : aside);
}

Status BuildCache::pin(const std::string& name, std::string_view key) const {
  return write_file_atomically(pins_folder() / name, key);
}

std::set<std::string> BuildCache::pinned() const {
  std::set<std::string> keys;
  std::error_code error;
  for (stdfs::directory_iterator entry(pins_folder(), error), end; !error && entry != end;
       entry.increment(error)) {
    keys.insert(read_file(entry->path()).value_or(""));
  }
  return keys;
}

std::vector<CachedBuild> BuildCache::list() const {
  std::vector<CachedBuild> builds;
  for (const auto& shelf : folders_in(folder_)) {
    if (shelf == staging_folder() || shelf == pins_folder()) {
      continue;
    }
    for (const auto& folder : folders_in(shelf)) {
      builds.push_back({.key = folder.filename().string(),
                        .folder = folder,
                        .bytes = bytes_below(folder),
                        .used_unix_ns = modified_unix_ns(folder)});
    }
  }
  std::ranges::sort(builds, {}, &CachedBuild::used_unix_ns);
  return builds;
}

Result<BuildPruning> BuildCache::prune(std::int64_t limit_bytes,
                                       const std::set<std::string>& needed) const {
  std::error_code error;
  if (!stdfs::exists(folder_, error)) {
    return BuildPruning{};
  }
  // Other claims than those of this object, which stand in the way like anybody's.
  ASSAY_ASSIGN_OR_RETURN(auto claims, Claims::open(claims_file()));
  for (const auto& folder : folders_in(staging_folder())) {
    ASSAY_ASSIGN_OR_RETURN(const bool is_ours, claims.try_take(folder.filename().string()));
    if (is_ours) {
      static_cast<void>(remove_tree(folder));  // A later prune tries again.
      ASSAY_RETURN_IF_ERROR(claims.release(folder.filename().string()));
    }
  }
  const auto pins = pinned();
  const auto builds = list();
  BuildPruning pruning;
  for (const auto& build : builds) {
    pruning.bytes_left += build.bytes;
  }
  for (const auto& build : builds) {
    if (pruning.bytes_left <= limit_bytes) {
      break;
    }
    const bool is_needed = pins.contains(build.key) || needed.contains(build.key);
    ASSAY_ASSIGN_OR_RETURN(const bool is_ours,
                           is_needed ? Result<bool>(false) : claims.try_take(build.key));
    if (!is_ours) {
      pruning.kept.push_back(build);
      continue;
    }
    ASSAY_RETURN_IF_ERROR(remove(build.key));
    ASSAY_RETURN_IF_ERROR(claims.release(build.key));
    pruning.bytes_left -= build.bytes;
    pruning.removed.push_back(build);
  }
  return pruning;
}

}  // namespace assay
