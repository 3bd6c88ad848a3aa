#pragma once

#include "features/repository/repository_spec.h"
#include "features/watch/watch_view.h"

#include <cstdint>
#include <string_view>
#include <vector>

#include "assay/record/incident.h"

namespace assay::watch {

/// The noisy metrics that are watched, by fresh pairs: those of launches that the policy names, or
/// else steady_floor_ns.
bool is_watched_by_pairs(std::string_view metric, const WatchPolicy& policy);

/// The incidents that the series suggest and none is about yet. An alarm waits until no revision of
/// its range is left to measure, or, where the metric has noise, until the range is `step` commits
/// at most, because measuring halves a range at a lower price than comparing does. A change of an
/// exact metric is confirmed at once, with its commit where the range holds only one; a failure and
/// a change of accuracy once both ends were measured a second time.
/// `now_unix_ns`: when the incidents are opened.
std::vector<Incident> nominate_incidents(const WatchView& view, const RepositorySpec& spec,
                                         std::int64_t now_unix_ns);

/// Incidents of which a case became fixed: of a confirmed change for the worse of one of its
/// metrics, a later confirmed one for the better leaves half at most. An improvement fixes the
/// incident of which it leaves least, and no other. The incident is fixed once all its cases are.
std::vector<Incident> close_fixed(const WatchView& view, std::int64_t now_unix_ns);

}  // namespace assay::watch
