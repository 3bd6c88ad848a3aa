#include "assay/remote/device_gate.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/units.h"
#include "assay/record/launch.h"
#include "assay/remote/strict_keys.h"

namespace assay {
namespace {

constexpr std::string_view kBelowCelsius = "below_celsius";
constexpr std::string_view kBatteryAbove = "battery_above_percent";
constexpr std::string_view kLoadBelow = "load_below";
constexpr std::string_view kWait = "wait";

bool is_at_least(const std::optional<double>& value, const std::optional<double>& limit) {
  return value && limit && *value >= *limit;
}

}  // namespace

std::vector<std::string> reasons_of_closed_gate(const DeviceGate& gate,
                                                const Conditions& conditions) {
  std::vector<std::string> reasons;
  if (is_at_least(conditions.temperature_celsius, gate.below_celsius)) {
    reasons.push_back(fmt::format("{:.0f} °C, must be below {:.0f}",
                                  conditions.temperature_celsius.value_or(0),
                                  gate.below_celsius.value_or(0)));
  }
  const bool is_low = is_at_least(gate.battery_above_percent, conditions.battery_percent);
  if (is_low && !conditions.is_charging.value_or(false)) {
    reasons.push_back(fmt::format("battery at {:.0f} %, must be above {:.0f}",
                                  conditions.battery_percent.value_or(0),
                                  gate.battery_above_percent.value_or(0)));
  }
  if (is_at_least(conditions.load_average_1min, gate.load_below)) {
    reasons.push_back(fmt::format("load {:.2f}, must be below {:.2f}",
                                  conditions.load_average_1min.value_or(0),
                                  gate.load_below.value_or(0)));
  }
  return reasons;
}

Result<DeviceGate> gate_from_json(const Json& document) {
  ASSAY_RETURN_IF_ERROR(
      check_keys(document, "gate", {kBelowCelsius, kBatteryAbove, kLoadBelow, kWait}));
  DeviceGate gate;
  for (const auto& [key, value] : document.items()) {
    if (key == kWait && value.is_string()) {
      ASSAY_ASSIGN_OR_RETURN(gate.wait_ns, duration_ns_from_text(value.get<std::string>()));
    } else if (value.is_number() && key == kBelowCelsius) {
      gate.below_celsius = value.get<double>();
    } else if (value.is_number() && key == kBatteryAbove) {
      gate.battery_above_percent = value.get<double>();
    } else if (value.is_number() && key == kLoadBelow) {
      gate.load_below = value.get<double>();
    } else {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("gate: '{}' has the wrong type; write {}, {} and {} as numbers, {} "
                              "as \"10min\"",
                              key, kBelowCelsius, kBatteryAbove, kLoadBelow, kWait));
    }
  }
  return gate;
}

}  // namespace assay
