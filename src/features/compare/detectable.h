#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assay/record/calibration.h"

namespace assay {

/// Pairs beyond these add little to the answer.
inline constexpr int kMostDrawnPairs = 160;

/// The smallest differences that a comparison finds in 95 of 100 tries on a machine as noisy as
/// these pairs of a program and its copy tell it to be, for each of the `budgets_ns`.
///
/// `a`, `b`: log times of the pairs, in the order of launching. Blocks of two pairs are drawn with
/// replacement, as many as fit the budget (at `pair_ns` each, kMostDrawnPairs at most), the sides
/// of each pair in random order, as both are one program. The test is shift-equivariant, so a
/// difference d is found in a draw where it rejects both d and -d: the answer is the least d that
/// 190 of 200 draws find, to 0.5 %, as a ratio; the draws themselves leave some 4 % to chance. Who
/// has more time may stop early, so a larger budget never finds less than a smaller one before it.
/// Below six pairs no interval is bounded: ratio -1. `budgets_ns` ascending. At least two pairs.
/// Deterministic for a seed.
std::vector<Detectable> find_detectable(std::span<const double> a, std::span<const double> b,
                                        std::int64_t pair_ns,
                                        std::span<const std::int64_t> budgets_ns,
                                        std::uint64_t seed);

}  // namespace assay
