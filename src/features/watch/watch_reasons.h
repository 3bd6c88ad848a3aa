#pragma once

#include "features/watch/watch_view.h"

#include <cstdint>
#include <string>

#include "assay/record/incident.h"

namespace assay::watch {

/// Lines about everything that keeps the history from growing: commits that cannot be built, one
/// line for neighbors with the same reason; commits of which a run gave no point; measured commits
/// that a forced push replaced; a clock that was set back. Pure.
std::string text_of_reasons(const WatchView& view, std::int64_t now_unix_ns);

/// Why an open incident rests; empty: it does not.
std::string reason_of_rest(const Incident& incident, const WatchView& view);

}  // namespace assay::watch
