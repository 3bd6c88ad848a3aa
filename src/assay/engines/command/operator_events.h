#pragma once

#include "assay/engines/command/printed_values.h"
#include "assay/record/launch.h"

namespace assay::command {

/// The operators of `inferences` inferences, those of one name together, in the order in which they
/// were printed first. The method is the median of the inferences' own times, where they were
/// printed. Pure.
ProfileReport profile_from_printed(const PrintedValues& values, int inferences);

}  // namespace assay::command
