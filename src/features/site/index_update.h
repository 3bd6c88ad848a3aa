#pragma once

#include "features/site/run_index.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "assay/base/result.h"
#include "assay/store/result_store.h"

namespace assay::site {

/// Opens the store that a site shows, to read.
using OpenStore = std::function<Result<std::unique_ptr<ResultStore>>()>;

enum class UpdateScope : std::uint8_t {
  kAll,     ///< All runs: what was removed, labelled and merged is seen, too.
  kNewest,  ///< The newest few, whose listing takes the same time however large the store is.
};

/// The difference between an index and its store.
struct IndexState {
  std::size_t runs = 0;     ///< Number of runs in the store.
  std::size_t pending = 0;  ///< Not in the index yet, or changed since.
  /// Why a run could not be read now; it is pending, and tried again. Empty: all could.
  std::string trouble = {};
};

/// A run that could not be read, as it is damaged, is read again after this time: a store may be
/// repaired.
inline constexpr std::chrono::nanoseconds kRetryUnreadable = std::chrono::minutes(1);

/// Brings the index up to date, the newest runs first, and removes runs that are gone. A finished
/// run is read once: it never changes, except its labels. Runs that are begun meanwhile are read
/// before the older ones. A store that is not there is empty. `goes_on` is asked after each run;
/// false ends the update early. Opens the store anew for every few runs, so that no run stays
/// claimed. Errors: the index's, and the store's where it cannot be read now; one that is about a
/// run alone is the problem of its row.
Result<IndexState> update_index(RunIndex& index, const OpenStore& open_store,
                                const RunFilter& filter, UpdateScope scope,
                                const std::function<bool(const IndexState&)>& goes_on,
                                std::chrono::nanoseconds retry = kRetryUnreadable);

}  // namespace assay::site
