#pragma once

#include "features/repository/build_entry.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/claims.h"
#include "assay/base/result.h"

namespace assay {

/// An entry as lists and pruning see it, without its files having been checked.
struct CachedBuild {
  std::string key;
  std::filesystem::path folder;
  std::int64_t bytes = 0;
  std::int64_t used_unix_ns = 0;  ///< When it was made or last taken out.
};

struct BuildPruning {
  std::vector<CachedBuild> removed = {};
  std::vector<CachedBuild> kept = {};  ///< Should have gone, and is pinned or in use.
  std::int64_t bytes_left = 0;
};

/// Builds by key. What was taken out or made stays as long as the object or a copy of it, in this
/// process or another: nobody prunes it. Not thread-safe.
class BuildCache {
 public:
  explicit BuildCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// nullopt if it was never built, or if its entry is damaged, which is logged and removed.
  Result<std::optional<BuildEntry>> find(std::string_view key) const;

  [[nodiscard]] std::filesystem::path folder_of(std::string_view key) const;

  /// A folder to gather an entry in; it is outside of what find() looks at.
  Result<std::filesystem::path> make_staging(std::string_view key) const;

  /// Moves a staging folder with its build.json to its place.
  Status adopt(std::string_view key, const std::filesystem::path& staging) const;

  /// Keeps an entry from being pruned while this process lives.
  void claim(std::string_view key) const;

  /// Keeps an entry from being pruned under a name, until the name is given to another: what a
  /// history always needs, such as its reference. Errors: kUnavailable, kExhausted.
  Status pin(const std::string& name, std::string_view key) const;
  [[nodiscard]] std::set<std::string> pinned() const;

  /// All entries, the least recently used first.
  [[nodiscard]] std::vector<CachedBuild> list() const;

  /// Removes the least recently used until the rest takes at most `limit_bytes`; what is in use,
  /// has a pin or is one of `needed` stays. Also removes what killed processes left half made.
  /// Errors: kUnavailable.
  Result<BuildPruning> prune(std::int64_t limit_bytes, const std::set<std::string>& needed) const;

  Status remove(std::string_view key) const;

 private:
  [[nodiscard]] std::filesystem::path staging_folder() const { return folder_ / "staging"; }
  [[nodiscard]] std::filesystem::path pins_folder() const { return folder_ / "pins"; }
  [[nodiscard]] std::filesystem::path claims_file() const { return folder_ / "in-use"; }

  std::filesystem::path folder_;
  std::shared_ptr<std::optional<Claims>> claims_ = std::make_shared<std::optional<Claims>>();
};

/// Folder of the builds.
std::filesystem::path builds_folder(const std::filesystem::path& home);

}  // namespace assay
