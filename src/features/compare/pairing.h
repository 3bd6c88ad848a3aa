#pragma once

#include "features/compare/pair_runner.h"

#include <functional>
#include <optional>
#include <string_view>

#include "assay/base/result.h"
#include "assay/record/comparison.h"
#include "assay/record/launch.h"

namespace assay {

/// Pairs that the pilot takes of each pairing.
inline constexpr int kPairingPilotPairs = 10;

struct PairingPilotResult {
  PairingPilot found;
  std::optional<Launch> failed;  ///< A launch that did not complete; `found` is then incomplete.
};

/// Launches kPairingPilotPairs of either pairing, a block of one and a block of the other in turn,
/// and takes their spread and cost at a metric. `on_pairs` hears after each block how many pairs
/// are done. Errors: as PairRunner::run_block.
Result<PairingPilotResult> run_pairing_pilot(PairRunner& runner, std::string_view metric,
                                             const std::function<void(int pairs)>& on_pairs);

/// The pairing whose answer comes sooner: by the robust standard deviation of its pairs, times the
/// square root of what a pair costs. Interleaved pairs where both are alike.
Pairing better_pairing(const PairingPilot& pilot);

}  // namespace assay
