#pragma once

#include "assay/record/comparison.h"

namespace assay {

/// Drops the planned looks beyond `most_pairs` pairs, all but the first. The last one that stays
/// spends the error probability of those that were dropped.
void limit_looks(int most_pairs, ComparisonPlan& plan);

}  // namespace assay
