#pragma once

#include "assay/record/profile.h"
#include "assay/record/summary.h"

namespace assay {

/// Where the time of an inference goes. A part's time is the median of its calls times their number
/// in an inference, so that one disturbed inference moves nothing; what medians leave of the
/// method's median is a part of its own, which may therefore be slightly negative.
///
/// `summary` has a profile. Where it has a time too, the profile's slow-down is told, unless the
/// time was taken under a scenario: the profile pass runs without it, so a note says why.
ProfileBreakdown break_down_profile(const CaseSummary& summary);

}  // namespace assay
