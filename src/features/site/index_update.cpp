#include "features/site/index_update.h"

#include "features/site/derive_rows.h"
#include "features/site/index_rows.h"
#include "features/site/run_index.h"

#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <fmt/format.h>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/store/result_store.h"

namespace assay::site {
namespace {

/// Runs that are read through one opening of the store.
constexpr std::size_t kBatch = 16;
constexpr int kNewestRuns = 32;
/// After so many runs in a row that cannot be read now, no other one is tried.
constexpr int kMostFailures = 3;
/// Begins the stamp of a run with a problem; the time of the try follows.
constexpr std::string_view kUnreadable = "unreadable ";

/// A text of all that may change of a run: its end and labels, and while it goes on its cases.
std::string stamp_of(const RunListing& listing) {
  const bool is_finished = listing.run.finished_unix_ns != 0;
  return fmt::format(
      "{} {} {}", listing.run.finished_unix_ns,
      is_finished ? ""
                  : fmt::format("{} {} {}", listing.is_in_use, listing.cases, listing.launches),
      canonical_json(Json(listing.run.labels)));
}

/// A run with a problem is read again after a while: the store may be repaired, and its stamp is
/// the same then.
bool is_current(std::string_view known, std::string_view stamp, std::chrono::nanoseconds retry) {
  if (!known.starts_with(kUnreadable)) {
    return known == stamp;
  }
  known.remove_prefix(kUnreadable.size());
  std::int64_t tried = 0;
  std::from_chars(known.data(), known.data() + known.size(), tried);
  return known.substr(known.find(' ') + 1) == stamp && unix_time_ns() - tried < retry.count();
}

/// The store or the machine cannot read anything now, which says nothing about the run.
bool is_passing(const Error& error) {
  return error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kExhausted;
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

/// Rows of a listed run; nullopt: it was removed just now. Errors: passing ones.
Result<std::optional<RunRows>> rows_of_run(ResultStore& store, const RunListing& listing) {
  const auto whole = store.list_runs({.id = listing.run.id});
  if (whole && whole->empty()) {
    return std::nullopt;
  }
  if (!whole && is_passing(whole.error())) {
    return std::unexpected(whole.error());
  }
  ASSAY_ASSIGN_OR_RETURN(auto rows, derive_rows(store, whole ? whole->front() : listing));
  if (!whole) {
    rows.run.problem = whole.error().message;
  }
  return rows;
}

/// One pass over the runs of a store.
class IndexPass {
 public:
  IndexPass(RunIndex& index, const OpenStore& open_store, std::chrono::nanoseconds retry)
      : index_(index), open_store_(open_store), retry_(retry) {}

  /// Notes which runs are to be read, and forgets those that a list of all has no more.
  Status list(const RunFilter& filter, UpdateScope scope) {
    auto listed = filter;
    listed.has_details = false;
    newest_ = listed;
    newest_.limit = kNewestRuns;
    if (scope == UpdateScope::kNewest) {
      listed = newest_;
    }
    finds_new_ = scope == UpdateScope::kAll && filter.limit < 0;
    ASSAY_ASSIGN_OR_RETURN(auto listings, list_all(open_store_, listed));
    ASSAY_ASSIGN_OR_RETURN(const auto stamps, index_.stamps());
    for (auto& listing : listings) {
      known_.insert(listing.run.id);
      const auto found = stamps.find(listing.run.id);
      if (found == stamps.end() || !is_current(found->second, stamp_of(listing), retry_)) {
        queue_.push_back(std::move(listing));
      }
    }
    for (const auto& [id, stamp] : stamps) {
      if (scope == UpdateScope::kAll && !known_.contains(id)) {
        ASSAY_RETURN_IF_ERROR(index_.remove(id));
      } else {
        known_.insert(id);
      }
    }
    state_ = {.runs = known_.size(), .pending = queue_.size()};
    return {};
  }

  Result<IndexState> read(const std::function<bool(const IndexState&)>& goes_on) {
    for (bool is_first = true; !queue_.empty() && goes_on(state_); is_first = false) {
      ASSAY_ASSIGN_OR_RETURN(const auto store, open_store_());
      if (finds_new_ && !is_first) {
        ASSAY_RETURN_IF_ERROR(find_new(*store));
      }
      for (std::size_t i = 0; i < kBatch && !queue_.empty() && goes_on(state_); ++i) {
        const auto listing = std::move(queue_.front());
        queue_.pop_front();
        ASSAY_RETURN_IF_ERROR(read_run(*store, listing));
      }
    }
    return state_;
  }

 private:
  /// Runs that were begun since the list was made come first: a pass over a large store takes long.
  Status find_new(ResultStore& store) {
    ASSAY_ASSIGN_OR_RETURN(auto listings, store.list_runs(newest_));
    for (auto& listing : listings | std::views::reverse) {
      if (known_.insert(listing.run.id).second) {
        queue_.push_front(std::move(listing));
        ++state_.runs;
        ++state_.pending;
      }
    }
    return {};
  }

  Status read_run(ResultStore& store, const RunListing& listing) {
    const auto rows = rows_of_run(store, listing);
    if (!rows) {
      state_.trouble = rows.error().message;
      return ++failures_ < kMostFailures ? Status() : std::unexpected(rows.error());
    }
    failures_ = 0;
    --state_.pending;
    if (!*rows) {
      --state_.runs;
      return {};
    }
    const auto stamp = stamp_of(listing);
    return index_.put(**rows, (*rows)->run.problem.empty()
                                  ? stamp
                                  : fmt::format("{}{} {}", kUnreadable, unix_time_ns(), stamp));
  }

  RunIndex& index_;
  const OpenStore& open_store_;
  std::chrono::nanoseconds retry_;
  RunFilter newest_;
  bool finds_new_ = false;
  std::set<std::string> known_;  ///< Ids of runs that are in the index or in the queue.
  std::deque<RunListing> queue_;
  int failures_ = 0;  ///< In a row.
  IndexState state_;
};

}  // namespace

Result<IndexState> update_index(RunIndex& index, const OpenStore& open_store,
                                const RunFilter& filter, UpdateScope scope,
                                const std::function<bool(const IndexState&)>& goes_on,
                                std::chrono::nanoseconds retry) {
  IndexPass pass(index, open_store, retry);
  ASSAY_RETURN_IF_ERROR(pass.list(filter, scope));
  return pass.read(goes_on);
}

}  // namespace assay::site
