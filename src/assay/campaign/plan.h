#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "assay/campaign/iterations.h"
#include "assay/record/axes.h"
#include "assay/record/launch.h"
#include "assay/record/run.h"

namespace assay {

/// One launch to come.
struct Step {
  std::size_t cell = 0;  ///< Index into the campaign's cases.
  Pass pass = Pass::kTiming;
  int index = 0;  ///< Which launch of its attempt.
};

/// The order of all launches: what is not timed first, pass by pass; then timing round robin over
/// the cases, so that no case gets the quiet minute, the cases of each round in a new seeded order.
std::vector<Step> plan_steps(std::size_t cases, const std::vector<Pass>& passes,
                             int timing_launches, std::uint64_t seed);

/// Where one (case, pass) stands: what a resumed run finds in the store.
struct AttemptState {
  Attempt attempt;
  int launches = 0;  ///< Finished ones.
  std::int64_t last_wall_ns = 0;
  std::int64_t spent_ns = 0;   ///< Wall time of all launches.
  std::vector<double> levels;  ///< Of the timed ones, see stopping.h.
  IterationPilot pilot{3};     ///< Of the first timed ones, where a plan adapts iterations.
};

/// The attempts of a campaign. References to its elements stay good while others are added.
using AttemptStates = std::deque<AttemptState>;

/// The attempt that a campaign goes on with: same case, subject, device, pass and try; null if
/// there is none.
AttemptState* find_attempt(AttemptStates& states, const Attempt& wanted);
const AttemptState* find_attempt(const AttemptStates& states, const Attempt& wanted);

}  // namespace assay
