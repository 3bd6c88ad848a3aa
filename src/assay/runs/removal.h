#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/store/prune.h"
#include "assay/store/result_store.h"

namespace assay {

/// One run as lists have it. Errors: those of ResultStore::get_run.
Result<RunListing> get_listing(ResultStore& store, const std::string& reference);

/// The runs that are named, each once. Errors: as get_listing(); kUnavailable when one of them is
/// in use.
Result<std::vector<RunListing>> get_removable_runs(ResultStore& store,
                                                   const std::vector<std::string>& references);

/// The runs that a rule removes, oldest first. Those of `assay watch` and `assay bisect` stay
/// unless the filter names their purpose. Errors: the store's.
Result<std::vector<RunListing>> find_runs_to_prune(ResultStore& store, const RunFilter& filter,
                                                   const PruneRule& rule);

/// Removes the runs, except those that somebody began to use or removed in the meantime, and
/// returns how many it removed. `on_removed` is called after each, `on_in_use` with the reason why
/// a run stays. Errors: the store's.
Result<std::size_t> prune_runs(ResultStore& store, const std::vector<RunListing>& listings,
                               const std::function<void(const RunListing&)>& on_removed,
                               const std::function<void(const std::string&)>& on_in_use);

}  // namespace assay
