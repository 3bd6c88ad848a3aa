#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace assay::stats {

/// Where the mean of a series changes: the split into parts of at least `min_segment` values that
/// minimizes the sum of squared distances from each part's mean, with `penalty` added for each
/// change. Exact. Returns the index of the first value after each change, ascending.
///
/// `values`: no NaN, divided by their noise's standard deviation; fewer than 2 * min_segment have
/// no change. `min_segment` at least 1. A penalty of 4 ln n finds few false changes in independent
/// normal noise. Pure; O(n^2) time, O(n) memory, so for some hundreds of values.
/// Source: Jackson et al., An Algorithm for Optimal Partitioning of Data on an Interval, IEEE
/// Signal Process. Lett. 12 (2005); PELT (Killick et al., JASA 107, 2012) has the same result and
/// prunes, which pays for long series only.
std::vector<std::size_t> find_mean_changes(std::span<const double> values, double penalty,
                                           std::size_t min_segment);

}  // namespace assay::stats
