#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "assay/record/launch.h"

namespace assay {

/// What one launch comes down to, by the name of a metric (docs/metrics.md): "steady_floor_ns",
/// "steady_ns", "steady_p90_ns", "first_ns", "load_ns". Absent where it was not measured.
std::optional<double> reduce_launch(const Launch& launch, std::string_view metric);

/// The metrics of a comparison, the primary one first: others follow in a fixed order.
std::vector<std::string_view> compared_metrics(std::string_view primary);

}  // namespace assay
