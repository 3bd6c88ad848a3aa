#pragma once

#include "features/history/history.h"

namespace assay::report {

/// Four series over 120 commits: two that one commit changed, one on two machines with an odd
/// newest point, and one without noise; with an outlier, a drift and a silent one.
history::History sample_history();

}  // namespace assay::report
