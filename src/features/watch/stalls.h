#pragma once

#include "features/repository/repository_spec.h"
#include "features/watch/watch_view.h"

#include <cstdint>
#include <vector>

#include "assay/record/incident.h"

namespace assay::watch {

/// New incidents of commits from which nothing can be learned. They are confirmed from the start.
///
///   broken build  at least the newest WatchPolicy::broken_commits commits cannot be built;
///                 the first of them is the culprit
///   silence       cases without a point for over silent_commits commits, or for silent_ns of
///   commit
///                 times. Commits with the bytes of a point count
///                 as having it, those that cannot be built as not being there.
///
/// A stall that was reported is not reported again. Pure.
std::vector<Incident> find_stalls(const WatchView& view, const RepositorySpec& spec,
                                  std::int64_t now_unix_ns);

/// Those of the view's incidents that are over, as fixed: a later commit can be built, or all their
/// cases have a later point. Pure.
std::vector<Incident> close_stalls(const WatchView& view, std::int64_t now_unix_ns);

}  // namespace assay::watch
