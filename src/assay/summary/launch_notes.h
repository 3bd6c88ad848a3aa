#pragma once

#include <span>
#include <string>
#include <vector>

#include "assay/record/launch.h"

namespace assay {

/// Notes on the processes of launches: that they left others running, and what
/// their sandbox enforced and what not. Empty where there is nothing of it. Pure.
std::vector<std::string> notes_from_processes(std::span<const Launch> launches);

}  // namespace assay
