#include "assay/artifact/cache_limit.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/artifact/cache.h"
#include "assay/base/claims.h"
#include "assay/base/folders.h"
#include "assay/base/fs.h"
#include "assay/base/log.h"
#include "assay/base/result.h"
#include "assay/base/units.h"
#include "assay/base/uuid.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

constexpr const char* kLimitVariable = "ASSAY_CACHE_LIMIT";
constexpr std::int64_t kDefaultLimitBytes = 10'000'000'000;

/// Takes the folder out of sight at once, then removes it: nobody finds half an entry.
void remove_entry(const stdfs::path& folder, const stdfs::path& staging) {
  std::error_code error;
  stdfs::create_directories(staging, error);
  const auto aside = staging / ("removed-" + make_uuid7());
  stdfs::rename(folder, aside, error);
  stdfs::remove_all(error ? folder : aside, error);
}

/// Removes what nobody works on; `claims` is nobody else's.
Status remove_abandoned(const ArtifactCache& cache, Claims& claims) {
  for (const auto& folder : folders_in(cache.staging_folder())) {
    const auto name = folder.filename().string();
    ASSAY_ASSIGN_OR_RETURN(const bool is_ours, claims.try_take(name));
    if (is_ours) {
      std::error_code error;
      stdfs::remove_all(folder, error);
      ASSAY_RETURN_IF_ERROR(claims.release(name));
    }
  }
  return {};
}

/// False where another process uses the entry.
Result<bool> remove_unless_in_use(const CacheEntry& entry, const ArtifactCache& cache,
                                  Claims& claims) {
  ASSAY_ASSIGN_OR_RETURN(const bool is_ours, claims.try_take(entry.key));
  if (is_ours) {
    remove_entry(entry.folder, cache.staging_folder());
    ASSAY_RETURN_IF_ERROR(claims.release(entry.key));
  }
  return is_ours;
}

/// Removes from the front until the rest takes at most `limit_bytes`. `remove` says whether an
/// entry went.
Result<CachePruning> prune_entries(const std::vector<CacheEntry>& entries, std::int64_t limit_bytes,
                                   const std::function<Result<bool>(const CacheEntry&)>& remove) {
  CachePruning pruning{.bytes_left = total_bytes(entries)};
  for (const auto& entry : entries) {
    if (pruning.bytes_left <= limit_bytes) {
      break;
    }
    ASSAY_ASSIGN_OR_RETURN(const bool is_removed, remove(entry));
    if (is_removed) {
      pruning.bytes_left -= entry.bytes;
      pruning.removed.push_back(entry);
    } else {
      pruning.in_use.push_back(entry);
    }
  }
  return pruning;
}

}  // namespace

Result<std::int64_t> cache_limit_bytes() {
  const char* text = std::getenv(kLimitVariable);
  if (text == nullptr || *text == '\0') {
    return kDefaultLimitBytes;
  }
  auto bytes = bytes_from_text(text);
  if (!bytes) {
    return fail_with_context(std::move(bytes).error(), kLimitVariable);
  }
  return bytes;
}

std::vector<CacheEntry> list_cache_entries(const ArtifactCache& cache) {
  std::vector<CacheEntry> entries;
  for (const auto& shelf : folders_in(cache.folder())) {
    if (shelf == cache.staging_folder()) {
      continue;
    }
    for (const auto& folder : folders_in(shelf)) {
      entries.push_back({.key = folder.filename().string(),
                         .folder = folder,
                         .bytes = bytes_below(folder),
                         .used_unix_ns = modified_unix_ns(folder)});
    }
  }
  std::ranges::sort(entries, {}, &CacheEntry::used_unix_ns);
  return entries;
}

std::int64_t total_bytes(const std::vector<CacheEntry>& entries) {
  std::int64_t bytes = 0;
  for (const auto& entry : entries) {
    bytes += entry.bytes;
  }
  return bytes;
}

Result<CachePruning> plan_cache_pruning(const ArtifactCache& cache, std::int64_t limit_bytes) {
  return prune_entries(list_cache_entries(cache), limit_bytes,
                       [](const CacheEntry& /*entry*/) { return Result<bool>(true); });
}

Result<CachePruning> prune_cache(const ArtifactCache& cache, std::int64_t limit_bytes) {
  std::error_code error;
  if (!stdfs::exists(cache.folder(), error)) {
    return CachePruning{};
  }
  ASSAY_ASSIGN_OR_RETURN(auto claims, Claims::open(cache.claims_file()));
  ASSAY_RETURN_IF_ERROR(remove_abandoned(cache, claims));
  return prune_entries(list_cache_entries(cache), limit_bytes, [&](const CacheEntry& entry) {
    return remove_unless_in_use(entry, cache, claims);
  });
}

void keep_cache_within_limit(const ArtifactCache& cache) {
  const auto limit = cache_limit_bytes();
  const auto pruned =
      limit ? prune_cache(cache, *limit) : Result<CachePruning>(std::unexpected(limit.error()));
  if (!pruned) {
    log_line(LogLevel::kWarning, "the cache was not pruned: " + pruned.error().message);
  } else if (!pruned->removed.empty()) {
    log_line(
        LogLevel::kInfo,
        fmt::format(
            "the cache exceeded its limit of {}: removed {} of the least recently used entries",
            text_from_bytes(static_cast<double>(*limit)),
            text_from_bytes(static_cast<double>(total_bytes(pruned->removed)))));
  }
}

}  // namespace assay
