#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "assay/record/launch.h"

namespace assay {

/// Energy of the steady part of a launch.
struct EnergyFinding {
  double joules_per_inference = 0;
  double watts = 0;
  std::string meter;        ///< Channel that the value comes from; empty: none.
  std::string unavailable;  ///< Why not; empty too where the device has no meter.
  bool is_asked = false;    ///< By a meter that was named, or a sustained launch.
};

/// Energy between the begin and the end of the steady part, divided by the inferences in it.
///
/// `first`: index of the first steady sample. The meter is, in this order: that of a command,
/// RAPL's packages, the only channel of hwmon that counts energy, a battery that discharges, the
/// only power of hwmon. A meter that was asked for and failed has no substitute. Energies between
/// readings are taken on the line between them, powers likewise. Unavailable: fewer than five
/// readings in the part, or a gap of more than a quarter of it.
EnergyFinding find_energy(const Launch& launch, std::size_t first);

}  // namespace assay
