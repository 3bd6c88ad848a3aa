#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace assay::stats {

/// Which values of a long series a picture draws: the first, the last, and of each of equal blocks
/// the smallest, the largest and those at the quartiles. So no extreme is lost, and each stretch
/// keeps its level and its spread. All of them where there are no more than `most`.
///
/// Indices ascend; at most `most` of them, seven at least. Pictures only: an aggregate is made of
/// all values. `values`: no NaN. Pure; O(n log n). Source: extremes by pixel column as in Jugel,
/// Jerzak, Hackenbroich, Markl, M4: A Visualization-Oriented Time Series Data Aggregation, PVLDB 7
/// (2014); differs from it in the quartiles.
std::vector<std::size_t> thinned(std::span<const double> values, std::size_t most);

}  // namespace assay::stats
