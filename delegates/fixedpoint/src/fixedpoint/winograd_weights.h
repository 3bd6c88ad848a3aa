#pragma once

#include "fixedpoint/operations.h"
#include "fixedpoint/packed_weights.h"
#include "fixedpoint/winograd_conv.h"

namespace fixedpoint {

/// Transforms and packs weights: of each tile of channels, one matrix for each place, packed over
/// `groups` groups. Does not fit where sums may be too large.
PackedWeights pack_winograd_weights(const Conv2d& conv, const WinogradUnit& unit);

}  // namespace fixedpoint
