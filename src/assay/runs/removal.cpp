#include "assay/runs/removal.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <expected>
#include <fmt/format.h>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/run.h"
#include "assay/store/prune.h"
#include "assay/store/result_store.h"

namespace assay {
namespace {

/// Runs that give points to histories or evidence to incidents; both go with their run.
bool is_of_history(const RunListing& listing) {
  constexpr auto kPurposes = std::to_array<std::string_view>({"watch", "verify", "bisect"});
  return std::ranges::find(kPurposes, listing.run.purpose) != kPurposes.end();
}

}  // namespace

Result<RunListing> get_listing(ResultStore& store, const std::string& reference) {
  ASSAY_ASSIGN_OR_RETURN(const auto run, store.get_run(reference));
  ASSAY_ASSIGN_OR_RETURN(auto listings, store.list_runs({.id = run.id}));
  return listings.empty() ? fail(ErrorCode::kNotFound, "run " + run.id + " was removed just now")
                          : Result<RunListing>(std::move(listings.front()));
}

Result<std::vector<RunListing>> get_removable_runs(ResultStore& store,
                                                   const std::vector<std::string>& references) {
  std::vector<RunListing> listings;
  for (const auto& reference : references) {
    ASSAY_ASSIGN_OR_RETURN(auto listing, get_listing(store, reference));
    if (listing.is_in_use) {
      return fail(ErrorCode::kUnavailable,
                  fmt::format("run {} is in use by another process, so nothing was removed; wait "
                              "until that process ends, or end it",
                              listing.run.id));
    }
    const auto is_same = [&listing](const RunListing& one) { return one.run.id == listing.run.id; };
    if (std::ranges::none_of(listings, is_same)) {
      listings.push_back(std::move(listing));
    }
  }
  return listings;
}

Result<std::vector<RunListing>> find_runs_to_prune(ResultStore& store, const RunFilter& filter,
                                                   const PruneRule& rule) {
  ASSAY_ASSIGN_OR_RETURN(auto listings, store.list_runs(filter));
  if (filter.made_by.empty()) {
    std::erase_if(listings, is_of_history);
  }
  std::vector<RunListing> chosen;
  for (const auto& id : choose_runs_to_prune(listings, rule)) {
    chosen.push_back(
        *std::ranges::find(listings, id, [](const RunListing& listing) { return listing.run.id; }));
  }
  return chosen;
}

Result<std::size_t> prune_runs(ResultStore& store, const std::vector<RunListing>& listings,
                               const std::function<void(const RunListing&)>& on_removed,
                               const std::function<void(const std::string&)>& on_in_use) {
  std::size_t removed = 0;
  for (const auto& listing : listings) {
    const auto status = store.remove_run(listing.run.id);
    if (status) {
      ++removed;
      on_removed(listing);
    } else if (status.error().code == ErrorCode::kUnavailable) {
      on_in_use(status.error().message);
    } else if (status.error().code != ErrorCode::kNotFound) {
      return std::unexpected(status.error());
    }
  }
  return removed;
}

}  // namespace assay
