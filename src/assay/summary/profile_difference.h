#pragma once

#include <vector>

#include "assay/base/json.h"
#include "assay/record/profile.h"
#include "assay/record/summary.h"

namespace assay {

/// Which operators account for the difference of two profiled cases, and which ones changed their
/// place between a delegate and the engine's own kernels.
///
/// Operators meet by name without element types (operator_family.h) and by occurrence: the third
/// convolution of A meets the third of B. What has no counterpart stands alone. The rows of each
/// list add up to the whole difference. Delegation comes from the manifests, where both have one.
/// Explains a difference; whether there is one is for a comparison of times to say.
ProfileDifference difference_of_profiles(const CaseSummary& a, const CaseSummary& b);

/// The operators whose place differs between two manifests ("operators_delegated" and
/// "operators_left"), with the time of what runs outside of delegates.
std::vector<OperatorChange> delegation_changes(const Json& a_manifest, const Json& b_manifest,
                                               const ProfileBreakdown& a,
                                               const ProfileBreakdown& b);

}  // namespace assay
