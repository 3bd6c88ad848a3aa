#pragma once

#include "features/compare/pairs.h"

namespace assay {

/// True if one side is slower than the other by more than the times within a launch move: its floor
/// (the least steady time of a launch) lies above the other's 90th percentile by more than
/// `gate_ratio` in the median of all pairs, at 99 % confidence. Then no choice of inferences makes
/// the sides equal, and it does not matter that launches never became steady.
///
/// The interval of that median is the exact one of a sign test. Of one program against itself
/// either side is as likely to lie above, so at most one comparison in a hundred finds sides apart,
/// however launches and the times within them move. Ten pairs suffice where all say so.
bool are_apart(const Pairs& pairs, double gate_ratio);

}  // namespace assay
