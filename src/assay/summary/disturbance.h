#pragma once

#include <span>
#include <string>
#include <vector>

#include "assay/record/launch.h"
#include "assay/record/summary.h"

namespace assay {

/// Signs that other work, the host or the hardware shaped this launch's times.
///
/// Looks only at conditions and counters, never at the times, so that it cannot choose results;
/// what the system did not tell raises no flag. In the order of the table in
/// docs/reference/metrics.md, which is from causes to consequences. Pure.
std::vector<Disturbance> find_disturbances(const Launch& launch);

/// Disturbances of the launches of one case, taken together.
struct DisturbedLaunches {
  int launches = 0;
  int disturbed = 0;     ///< Launches with at least one flag.
  std::string dominant;  ///< The flag that most launches have; of several the first cause.
  int dominant_launches = 0;
  std::string reason;  ///< Its sentence, with the largest value.
  std::string remedy;  ///< "a quieter machine would help"
};

DisturbedLaunches gather_disturbances(std::span<const std::vector<Disturbance>> launches);

/// "2 of 3 launches were disturbed: the machine lost up to 12 % …; a quieter machine would help";
/// empty when none was.
std::string note_of(const DisturbedLaunches& found);

}  // namespace assay
