#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "assay/record/launch.h"
#include "assay/record/summary.h"

namespace assay {

/// How fast memory grows in each series of a leak check, by malloc where it is counted and by
/// private dirty pages: the slope of Theil and Sen with its exact interval over all cycles but the
/// first fifth, in which caches fill. A series of fewer than two cycles then gives no finding.
std::vector<LeakFinding> find_leaks(const MemoryReport& memory);

/// The finding that decides about that kind of cycle: malloc's, which is exact, or else that of the
/// pages; null without any.
const LeakFinding* find_deciding_leak(const std::vector<LeakFinding>& leaks,
                                      std::string_view cycle);

/// Sentences that a reader must know: leaks, and pages that grow where malloc does not.
std::vector<std::string> notes_of_leaks(const std::vector<LeakFinding>& leaks);

}  // namespace assay
