#pragma once

#include <optional>
#include <vector>

#include "assay/record/profile.h"

namespace assay {

/// The convolutions and matrix products of several profiles of one model, side by side: the third
/// that one engine executes meets the third of another, whatever they are called. Absent for less
/// than two profiles. A case with another number of them than the first is left out, with a note.
///
/// Branches that engines execute in different orders meet crosswise, and what an engine fuses into
/// a layer is in its time.
std::optional<ProfileLayers> layers_of_profiles(const std::vector<ProfileBreakdown>& cases);

}  // namespace assay
