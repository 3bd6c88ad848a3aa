#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace assay::history {

/// Standard deviation of independent noise, from the median size of the steps from value to value:
/// neither single spikes nor a few changes of the level move it. Where a quarter of the neighbors
/// are equal, as with counts, coarse clocks and a part without noise, at least that from the mean
/// size: the median may then be 0. 0 for fewer than two values.
double noise_of_differences(std::span<const double> values);

/// Which values are spikes: more than `sigmas` standard deviations of the noise above the medians
/// of both the four values before and the four after, or below both. The first and the last value
/// are none: whether the level changed there is not known yet. The noise is that of the block of
/// `block` values around. `values`: no NaN. Pure; O(n log block).
std::vector<bool> find_spikes(std::span<const double> values, double sigmas, std::size_t block);

}  // namespace assay::history
