#pragma once

#include <span>
#include <string>
#include <vector>

#include "assay/record/launch.h"

namespace assay {

/// What a reader must know of the launches' processes: that they left others running, and what
/// their sandbox enforced and what not. Empty where there is nothing of it. Pure.
std::vector<std::string> notes_from_processes(std::span<const Launch> launches);

}  // namespace assay
