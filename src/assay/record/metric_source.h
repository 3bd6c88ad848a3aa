#pragma once

#include <cstdint>

#include "assay/record/metric.h"

namespace assay {

/// Source of the values of a metric.
enum class MetricSource : std::uint8_t {
  kOther,        ///< Memory, files, outputs, counts: no time.
  kLaunchTimes,  ///< A time or number of each launch, estimated over them.
  kAllTimes,     ///< Computed from the times of all launches together: it has no interval.
};

/// As the metric's row says; the numbers that a program tells are those of its launches.
/// is_time_of_launches() is true of all but kOther.
MetricSource source_of(const MetricDefinition& definition);

}  // namespace assay
