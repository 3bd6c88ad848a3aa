#pragma once

#include <cstddef>

#include "assay/evaluate/output_values.h"

namespace assay {

/// Takes indices that differ from the reference's only in the order of ties as the reference's, and
/// returns how many.
///
/// `values` are the values that a sort or a top-k gives before its `indices`: of the same shapes,
/// along the last axis ascending or descending in the reference, whose indices name no place twice.
/// A row of indices is right where the engine names each place once, all of them are places that
/// the reference names, and the reference's values of the two places that differ lie no further
/// apart than twice the largest error of the engine's values: closer values are in no order that
/// the engine could know. A place that the reference does not name (a tie at the end of a top-k)
/// stays a difference, as nothing here tells its value. Other outputs stay as they are. O(n).
std::size_t settle_ties(const OutputValues& values, OutputValues& indices);

}  // namespace assay
