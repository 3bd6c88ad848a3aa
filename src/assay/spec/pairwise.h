#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace assay {

/// A cell of a matrix: the index of its value on each axis. All cells have the same axes.
using Coordinates = std::vector<int>;

/// Picks cells so that every pair of values of two axes that occurs in `cells` occurs in a picked
/// one. Greedy: always the cell with the most new pairs, the first of equals. Returns indices,
/// ascending. Deterministic. O(picked * cells * axes^2).
std::vector<std::size_t> pick_pairwise(std::span<const Coordinates> cells);

}  // namespace assay
