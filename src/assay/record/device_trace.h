#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay {

/// The channel of the meter that a user's command reads.
inline constexpr const char* kMeterChannel = "meter";

/// Readings of one quantity of a device while a launch ran. The two columns have one length.
struct DeviceTrace {
  std::string channel;  ///< "temperature:cpu-thermal", "frequency:policy0", "energy:package-0".
  std::string unit;     ///< "celsius", "hz", "watts" or "joules"; joules count up from any origin.
  std::vector<std::int64_t> times_ns;  ///< CLOCK_BOOTTIME of the device, ascending.
  std::vector<std::int64_t> micros;    ///< The readings in millionths of the unit.
};

/// A channel that the device has and that gave no readings.
struct MissingChannel {
  std::string channel;
  std::string reason;
};

/// Channels of a device over one launch, and how they were read.
struct LaunchTraces {
  std::int64_t period_ns = 0;       ///< Time between two readings of all channels.
  std::int64_t start_ns = 0;        ///< CLOCK_BOOTTIME of the device when the process started.
  std::int64_t readings = 0;        ///< Number of times that all channels were read.
  std::int64_t cpu_ns = 0;          ///< CPU time that the readings took.
  std::int64_t clock_error_ns = 0;  ///< How well the meter's clock is aligned with the device's.
  std::vector<MissingChannel> unavailable;
  std::vector<DeviceTrace> channels;
};

/// When the sensors of a device are read during a timed launch: "off" (0), "auto" (absent), or a
/// period of at least 1 ms such as "250ms". Errors: kInvalidArgument.
Result<std::optional<std::int64_t>> sensors_period_from_text(const std::string& text);

/// The period that "auto" means where sensors are read.
inline constexpr std::int64_t kSensorsPeriodNs = 1'000'000'000;

ASSAY_DECLARE_JSON(DeviceTrace);
ASSAY_DECLARE_JSON(MissingChannel);
ASSAY_DECLARE_JSON(LaunchTraces);

}  // namespace assay
