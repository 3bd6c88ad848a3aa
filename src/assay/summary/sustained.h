#pragma once

#include <map>
#include <string>
#include <vector>

#include "assay/record/launch.h"
#include "assay/record/metric.h"

namespace assay {

/// sustained_ns, sustained_ratio and sustained_slope_percent_per_min of the launches that went on
/// for a given time; empty if there are none. The interval of the slope of a single launch is
/// that of its own trend, that of several launches the order-statistic interval of their median.
/// docs/reference/metrics.md#sustained-launches
std::map<std::string, Estimate> summarize_sustained(
    const std::vector<const Measurement*>& launches);

}  // namespace assay
