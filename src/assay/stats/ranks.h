#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace assay::stats {

/// Twice the midrank of each value, which is a whole number: 2 for the least of distinct values.
/// No NaN; may be empty. Pure; O(n log n).
std::vector<std::int64_t> doubled_midranks(std::span<const double> values);

}  // namespace assay::stats
