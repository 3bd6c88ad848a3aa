#pragma once

#include <optional>
#include <string_view>

#include "assay/record/metric.h"

namespace assay {

/// The scale that a metric has: its own, else that of its unit; of an unknown unit differences.
MetricScale scale_of(const MetricDefinition& definition);

/// The scale of a metric by its full name, "qdq.sqnr_db" and "program:tokens_per_s" included.
MetricScale scale_of(std::string_view metric, std::string_view unit);

/// ln(value / reference), or value - reference. Absent where the scale does not have it: a ratio of
/// what is not above 0, or a number that is not finite.
std::optional<double> offset_between(MetricScale scale, double value, double reference);

/// An offset as people read it: value / reference - 1, or the difference.
double change_from_offset(MetricScale scale, double offset);

/// Whether a change, given by its sign, makes a metric worse: 1, better: -1, or neither: 0.
int direction_of_change(Better better, double change);

}  // namespace assay
