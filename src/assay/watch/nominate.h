#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "assay/record/incident.h"
#include "assay/watch/watch_view.h"

namespace assay::watch {

/// The incidents that the series suggest and none is about yet. An alarm waits until no revision of
/// its range is left to measure, or, where the metric has noise, until the range is `step` commits
/// at most, because measuring halves a range at a lower price than comparing does. A change of an
/// exact metric is confirmed at once, with its commit where the range holds only one.
/// `now_unix_ns`: when the incidents are opened.
std::vector<Incident> nominate_incidents(const WatchView& view, const RepositorySpec& spec,
                                         std::int64_t now_unix_ns);

/// Incidents that become fixed: of a confirmed one for the worse, a later confirmed one for the
/// better leaves half at most. An improvement fixes the incident of which it leaves least, and no
/// other.
std::vector<Incident> close_fixed(const WatchView& view, std::int64_t now_unix_ns);

}  // namespace assay::watch
