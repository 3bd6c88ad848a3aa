#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/launch.h"

namespace assay {

/// Conditions under which a device may be timed. What the device does not tell keeps no gate shut.
struct DeviceGate {
  std::optional<double> below_celsius;
  std::optional<double> battery_above_percent;  ///< Passed while it charges, too.
  std::optional<double> load_below;             ///< Load average of a minute.
  std::int64_t wait_ns = 600'000'000'000;       ///< How long it is waited for.

  [[nodiscard]] bool is_open_always() const {
    return !below_celsius && !battery_above_percent && !load_below;
  }
};

/// Why the gate is shut: "61 °C, must be below 45"; empty: it is open.
std::vector<std::string> reasons_of_closed_gate(const DeviceGate& gate,
                                                const Conditions& conditions);

/// {"below_celsius": 45, "battery_above_percent": 30, "load_below": 1.5, "wait": "10min"}. Errors:
/// kInvalidArgument, naming the key.
Result<DeviceGate> gate_from_json(const Json& document);

}  // namespace assay
