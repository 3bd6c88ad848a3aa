#include "assay/store/prune.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "assay/store/result_store.h"

namespace assay {
namespace {

bool is_named(const RunListing& listing, std::size_t place, const PruneRule& rule) {
  const auto kept = static_cast<std::size_t>(std::max(rule.keep_newest.value_or(0), 0));
  const bool is_free = !listing.is_in_use && !listing.run.labels.contains(std::string(kKeepLabel));
  return is_free && (!rule.keep_newest || place >= kept) &&
         (!rule.started_before_ns || listing.run.started_unix_ns < *rule.started_before_ns) &&
         (!rule.bigger_than_bytes || listing.bytes > *rule.bigger_than_bytes);
}

/// A disk writes as much in about two seconds.
constexpr std::int64_t kMostRewrittenBytes = std::int64_t{256} << 20;

}  // namespace

std::vector<std::string> choose_runs_to_prune(std::span<const RunListing> newest_first,
                                              const PruneRule& rule) {
  std::vector<std::string> chosen;
  if (!rule.keep_newest && !rule.started_before_ns && !rule.bigger_than_bytes) {
    return chosen;
  }
  for (std::size_t i = newest_first.size(); i-- > 0;) {
    if (is_named(newest_first[i], i, rule)) {
      chosen.push_back(newest_first[i].run.id);
    }
  }
  return chosen;
}

bool is_soon_shrunk(const StoreRoom& room) {
  const auto used = room.bytes - room.free_bytes;
  return used < room.free_bytes && used <= kMostRewrittenBytes;
}

}  // namespace assay
