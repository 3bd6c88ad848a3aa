#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "assay/record/launch.h"

namespace assay {

/// Values of one launch, by the name of a metric (docs/reference/metrics.md):
/// "steady_floor_ns", "steady_ns", "steady_p90_ns", "first_ns", "load_ns", …, and those that the
/// program defines, "program:NAME". Without what was not measured.
using ReducedLaunch = std::map<std::string, double, std::less<>>;

/// Costs about as much for one metric as for all of them.
ReducedLaunch reduce_launch(const Launch& launch);

/// The metrics of a comparison, the primary one first: others follow in a fixed order. Any metric
/// of a program can be the primary one; the view of its name is that of the argument.
std::vector<std::string_view> compared_metrics(std::string_view primary);

}  // namespace assay
