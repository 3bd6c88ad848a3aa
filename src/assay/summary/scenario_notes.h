#pragma once

#include <span>
#include <string>
#include <vector>

#include "assay/record/case.h"
#include "assay/record/launch.h"

namespace assay {

/// Notes for launches that were not under the conditions of their case: another number of threads
/// worked, or files were cached that were to be cold. Empty if all was as asked. Pure.
std::vector<std::string> notes_of_scenario(const Case& cell, std::span<const Launch> launches);

}  // namespace assay
