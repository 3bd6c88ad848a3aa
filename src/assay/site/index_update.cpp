#include "assay/site/index_update.h"

#include <algorithm>
#include <cstddef>
#include <expected>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/site/derive_rows.h"
#include "assay/site/run_index.h"
#include "assay/store/result_store.h"

namespace assay::site {
namespace {

/// Runs that are read through one opening of the store.
constexpr std::size_t kBatch = 16;
constexpr int kNewestRuns = 32;

/// A text of all that may change of a run: its end and labels, and while it goes on its cases.
std::string stamp_of(const RunListing& listing) {
  const bool is_finished = listing.run.finished_unix_ns != 0;
  return fmt::format(
      "{} {} {}", listing.run.finished_unix_ns,
      is_finished ? ""
                  : fmt::format("{} {} {}", listing.is_in_use, listing.cases, listing.launches),
      canonical_json(Json(listing.run.labels)));
}

Result<std::vector<RunListing>> list_all(const OpenStore& open_store, const RunFilter& filter) {
  const auto store = open_store();
  if (!store && store.error().code == ErrorCode::kNotFound) {
    return std::vector<RunListing>();
  }
  if (!store) {
    return std::unexpected(store.error());
  }
  return (*store)->list_runs(filter);
}

Status index_batch(RunIndex& index, const OpenStore& open_store, std::span<const RunListing> batch,
                   IndexState& state, const std::function<bool(const IndexState&)>& goes_on) {
  ASSAY_ASSIGN_OR_RETURN(const auto store, open_store());
  for (const auto& listing : batch) {
    if (!goes_on(state)) {
      return {};
    }
    ASSAY_ASSIGN_OR_RETURN(const auto whole, store->list_runs({.id = listing.run.id}));
    if (whole.empty()) {  // It was removed just now.
      --state.pending;
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(const auto rows, derive_rows(*store, whole.front()));
    ASSAY_RETURN_IF_ERROR(index.put(rows, stamp_of(listing)));
    --state.pending;
  }
  return {};
}

}  // namespace

Result<IndexState> update_index(RunIndex& index, const OpenStore& open_store,
                                const RunFilter& filter, UpdateScope scope,
                                const std::function<bool(const IndexState&)>& goes_on) {
  const bool is_part = scope == UpdateScope::kNewest;
  auto listed = filter;
  listed.limit = is_part ? kNewestRuns : filter.limit;
  listed.has_details = false;
  ASSAY_ASSIGN_OR_RETURN(auto listings, list_all(open_store, listed));
  ASSAY_ASSIGN_OR_RETURN(auto known, index.stamps());
  IndexState state{.runs = is_part ? known.size() : listings.size()};
  std::vector<RunListing> changed;
  for (auto& listing : listings) {
    const auto found = known.find(listing.run.id);
    const bool is_known = found != known.end() && found->second == stamp_of(listing);
    if (found != known.end()) {
      known.erase(found);
    }
    if (!is_known) {
      changed.push_back(std::move(listing));
    }
  }
  if (!is_part) {
    for (const auto& [gone, stamp] : known) {
      ASSAY_RETURN_IF_ERROR(index.remove(gone));
    }
  }
  state.pending = changed.size();
  for (std::size_t first = 0; first < changed.size() && goes_on(state); first += kBatch) {
    const auto batch = std::span(changed).subspan(first, std::min(kBatch, changed.size() - first));
    ASSAY_RETURN_IF_ERROR(index_batch(index, open_store, batch, state, goes_on));
  }
  return state;
}

}  // namespace assay::site
