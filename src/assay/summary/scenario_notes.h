#pragma once

#include <span>
#include <string>
#include <vector>

#include "assay/record/case.h"
#include "assay/record/launch.h"

namespace assay {

/// Where the launches of a case were not under the conditions that it asks for: another number of
/// threads worked, or files were cached that were to be cold. Empty where all is as asked. Pure.
std::vector<std::string> notes_of_scenario(const Case& cell, std::span<const Launch> launches);

}  // namespace assay
