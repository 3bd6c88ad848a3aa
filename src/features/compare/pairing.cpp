#include "features/compare/pairing.h"

#include "features/compare/pair_runner.h"
#include "features/compare/pairs.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

#include "assay/base/clock.h"
#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/record/comparison.h"
#include "assay/stats/quantile.h"

namespace assay {
namespace {

/// One pairing of the pilot.
struct Trial {
  Pairing pairing;
  Pairs pairs;
  std::int64_t wall_ns = 0;
};

double sigma_of(const Trial& trial, std::string_view metric) {
  const auto sides = trial.pairs.sides(metric, PairPhase::kPilot);
  return sides.a.empty() ? 0 : stats::robust_sigma(sides.differences());
}

double cost_of(double sigma, std::int64_t pair_ns) {
  return sigma * std::sqrt(static_cast<double>(pair_ns));
}

}  // namespace

Result<PairingPilotResult> run_pairing_pilot(PairRunner& runner, std::string_view metric,
                                             const std::function<void(int pairs)>& on_pairs) {
  std::array<Trial, 2> trials = {
      {{.pairing = Pairing::kInterleaved, .pairs = {}}, {.pairing = Pairing::kDuet, .pairs = {}}}};
  PairingPilotResult result;
  int done = 0;
  for (int pairs = 0; pairs < kPairingPilotPairs; pairs += 2) {
    for (auto& trial : trials) {
      const auto start_ns = monotonic_ns();
      ASSAY_ASSIGN_OR_RETURN(auto launches, runner.run_block(PairPhase::kPilot, trial.pairing));
      trial.wall_ns += monotonic_ns() - start_ns;
      if (launches.back().outcome != Outcome::kCompleted) {
        result.failed = std::move(launches.back());
        return result;
      }
      for (const auto& launch : launches) {
        trial.pairs.add(launch);
      }
      done += 2;
      on_pairs(done);
    }
  }
  result.found = {.pairs = kPairingPilotPairs,
                  .interleaved_sigma = sigma_of(trials[0], metric),
                  .duet_sigma = sigma_of(trials[1], metric),
                  .interleaved_pair_ns = trials[0].wall_ns / kPairingPilotPairs,
                  .duet_pair_ns = trials[1].wall_ns / kPairingPilotPairs};
  return result;
}

Pairing better_pairing(const PairingPilot& pilot) {
  return cost_of(pilot.duet_sigma, pilot.duet_pair_ns) <
                 cost_of(pilot.interleaved_sigma, pilot.interleaved_pair_ns)
             ? Pairing::kDuet
             : Pairing::kInterleaved;
}

}  // namespace assay
