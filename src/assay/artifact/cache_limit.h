#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "assay/artifact/cache.h"
#include "assay/base/result.h"

namespace assay {

/// A finished artifact or reference in the cache.
struct CacheEntry {
  std::string key;
  std::filesystem::path folder;
  std::int64_t bytes = 0;
  std::int64_t used_unix_ns = 0;  ///< When it was made or last taken out.
};

/// The outcome of pruning, or of a plan to prune.
struct CachePruning {
  std::vector<CacheEntry> removed = {};
  std::vector<CacheEntry> in_use = {};  ///< Should have gone, and another process uses it.
  std::int64_t bytes_left = 0;
};

/// How large a cache may grow: $ASSAY_CACHE_LIMIT, a size such as 500MB; absent: 10 GB.
/// Errors: kInvalidArgument.
Result<std::int64_t> cache_limit_bytes();

/// All entries, the least recently used first.
std::vector<CacheEntry> list_cache_entries(const ArtifactCache& cache);

std::int64_t total_bytes(const std::vector<CacheEntry>& entries);

/// Removes the least recently used entries until the rest takes at most `limit_bytes`; what a
/// process uses that found or made it stays, that of this cache object, too. Also removes what
/// killed processes left half made. Another process makes an entry again that it misses.
/// Errors: kUnavailable.
Result<CachePruning> prune_cache(const ArtifactCache& cache, std::int64_t limit_bytes);

/// Says what `prune_cache` would remove now, where nothing is in use.
Result<CachePruning> plan_cache_pruning(const ArtifactCache& cache, std::int64_t limit_bytes);

/// Prunes to the limit and says how much went, or why that was not possible.
void keep_cache_within_limit(const ArtifactCache& cache);

}  // namespace assay
