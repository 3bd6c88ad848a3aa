#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/store/result_store.h"

namespace assay {

/// A run with this label stays, whatever its value and the rule.
inline constexpr std::string_view kKeepLabel = "keep";

/// Which runs may go. A run goes that all given parts name; without any part none goes.
struct PruneRule {
  std::optional<int> keep_newest;                 ///< All but so many of the newest.
  std::optional<std::int64_t> started_before_ns;  ///< Unix time.
  std::optional<std::int64_t> bigger_than_bytes;  ///< RunListing::bytes.
};

/// Ids of the runs to remove, oldest first. `newest_first`: as list_runs gives them, all of them
/// or those that a filter lets through. A run that another process works on
/// stays, and one with kKeepLabel.
std::vector<std::string> choose_runs_to_prune(std::span<const RunListing> newest_first,
                                              const PruneRule& rule);

/// True if a store is worth writing anew after a removal, and that takes no more than a few
/// seconds, in which nobody else can write to it: most of it is free, and the rest is small.
bool is_soon_shrunk(const StoreRoom& room);

}  // namespace assay
