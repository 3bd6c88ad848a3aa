#include "assay/record/device_trace.h"

#include "assay/base/json.h"

namespace assay {

ASSAY_DEFINE_JSON(DeviceTrace, channel, unit, times_ns, micros)
ASSAY_DEFINE_JSON(MissingChannel, channel, reason)
ASSAY_DEFINE_JSON(LaunchTraces, period_ns, start_ns, readings, cpu_ns, clock_error_ns, unavailable,
                  channels)

}  // namespace assay
