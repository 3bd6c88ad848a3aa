#pragma once

#include <cstdint>
#include <vector>

#include "assay/record/comparison.h"

namespace assay {

/// One launch to come: which side of which pair.
struct PairStep {
  int pair = 0;
  Side side = Side::kA;
};

/// The launches of one block, in order: two pairs as ABBA or BAAB by a fair coin, so that a drift
/// within the block falls on both sides alike. With a canary, A once more from a copy of its files,
/// right beside one of the block's own launches of A and never between the two of a pair.
///
/// `block`: from 0; holds pairs 2 block and 2 block + 1. Deterministic for a given seed.
std::vector<PairStep> block_order(std::uint64_t seed, int block, bool has_canary);

}  // namespace assay
