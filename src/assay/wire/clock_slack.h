#pragma once

#include <cstdint>

namespace assay::wire {

/// By how much times that an engine took may add up to more than the `wall_ns` that we took around
/// them: a millisecond, one hundredth for clocks that do not run alike, and a step of the engine's
/// clock for each of its readings, as a coarse one rounds every time up. No clock with which an
/// inference could be timed has steps above 20 ms.
std::int64_t clock_slack_ns(std::int64_t wall_ns, std::int64_t readings,
                            std::int64_t clock_resolution_ns);

}  // namespace assay::wire
