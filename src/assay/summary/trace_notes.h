#pragma once

#include <span>
#include <string>
#include <vector>

#include "assay/record/launch.h"

namespace assay {

/// Sentences about what the sensors of the device told while launches ran. Today one: a launch was
/// throttled, which is that a frequency fell by more than a tenth while a temperature rose by three
/// degrees or more, from the median of its first third to that of its last third.
std::vector<std::string> notes_of_traces(std::span<const Launch> launches);

}  // namespace assay
