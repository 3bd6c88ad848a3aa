#include "assay/record/device_trace.h"

#include <cstdint>
#include <fmt/format.h>
#include <optional>
#include <string>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/units.h"

namespace assay {

Result<std::optional<std::int64_t>> sensors_period_from_text(const std::string& text) {
  constexpr std::int64_t kLeastNs = 1'000'000;
  if (text == "auto") {
    return std::nullopt;
  }
  if (text == "off") {
    return std::optional<std::int64_t>(0);
  }
  const auto period_ns = duration_ns_from_text(text);
  if (!period_ns || *period_ns < kLeastNs) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("'{}' is no period for sensors; write \"off\", \"auto\", or 1 ms or more, "
                    "such as \"250ms\"",
                    text));
  }
  return std::optional(*period_ns);
}

ASSAY_DEFINE_JSON(DeviceTrace, channel, unit, times_ns, micros)
ASSAY_DEFINE_JSON(MissingChannel, channel, reason)
ASSAY_DEFINE_JSON(LaunchTraces, period_ns, start_ns, readings, cpu_ns, clock_error_ns, unavailable,
                  channels)

}  // namespace assay
