#pragma once

#include "features/site/index_rows.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace assay::site {

/// The tier whose cases are drawn: its runs have no case in common with any other.
inline constexpr std::string_view kDrawnTier = "fuzz";

/// A text that runs of one suite, recipe, engine build, options and device share, so that each of
/// their cases has one newest verdict. Drawn cases are a setting of their own.
std::string setting_of(const ConformRow& row);

/// Tells, going from new to old over the runs of a setting, which of them may still have the newest
/// verdict of a case: none that a later run of all cases of its tier has taken the place of. The
/// full tier holds the quick one. Shards stand for all cases where each was there twice: shares
/// move between shards from run to run, and the last sharing is whole then.
class ConformCover {
 public:
  /// True if the run is wanted; counts it where it is.
  bool take(const std::string& tier, const std::string& shard, bool is_whole);
  /// No older run is wanted.
  [[nodiscard]] bool is_complete() const;

 private:
  [[nodiscard]] bool is_sharing_whole(const std::string& tier, const std::string& shard);

  std::set<std::string> covered_;  ///< Tiers.
  /// Numbers of results by tier and count of shards.
  std::map<std::string, std::map<std::string, int>> shards_;
};

/// Joins runs of one setting, newest first and at least one: of each case the newest verdict. What
/// was not run takes the place of nothing.
ConformRow latest_from_runs(const std::vector<ConformRow>& rows);

}  // namespace assay::site
