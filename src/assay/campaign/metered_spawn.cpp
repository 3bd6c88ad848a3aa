#include "assay/campaign/metered_spawn.h"

#include <algorithm>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/result.h"
#include "assay/campaign/meter.h"
#include "assay/record/device_trace.h"
#include "assay/record/spawn.h"
#include "assay/supervise/agent_client.h"

namespace assay {
namespace {

/// Offset from CLOCK_BOOTTIME of this machine to that of the device.
struct ClockOffset {
  std::int64_t ns = 0;
  std::int64_t error_ns = 0;  ///< Half the round trip by which it was found.
};

/// Absent: the agent does not tell the time.
Result<std::optional<ClockOffset>> align_clocks(AgentClient& agent) {
  constexpr int kClockTries = 3;
  std::optional<ClockOffset> best;
  for (int i = 0; i < kClockTries; ++i) {
    const auto before_ns = boottime_ns();
    ASSAY_ASSIGN_OR_RETURN(const auto conditions, agent.conditions());
    const auto trip_ns = boottime_ns() - before_ns;
    if (conditions.boottime_ns != 0 && (!best || trip_ns / 2 < best->error_ns)) {
      best = {.ns = conditions.boottime_ns - (before_ns + trip_ns / 2), .error_ns = trip_ns / 2};
    }
  }
  return best;
}

void add_meter(Result<DeviceTrace> trace, const ClockOffset& offset, LaunchTraces& traces) {
  if (!trace) {
    traces.unavailable.push_back({kMeterChannel, trace.error().message});
    return;
  }
  for (auto& ns : trace->times_ns) {
    ns += offset.ns;
  }
  drop_early_readings(traces.start_ns, *trace);
  if (trace->times_ns.empty()) {
    traces.unavailable.push_back({kMeterChannel, "gave no reading while the process ran"});
    return;
  }
  traces.clock_error_ns = offset.error_ns;
  traces.channels.push_back(*std::move(trace));
}

}  // namespace

void drop_early_readings(std::int64_t start_ns, DeviceTrace& trace) {
  constexpr std::int64_t kKeptBeforeNs = 1'000'000'000;
  constexpr std::int64_t kOldestNs = 50'000'000'000;
  // The last reading before the process started says what a slow meter counted until then.
  auto first = std::ranges::upper_bound(trace.times_ns, start_ns);
  first -= first == trace.times_ns.begin() ? 0 : 1;
  first = std::min(first, std::ranges::lower_bound(trace.times_ns, start_ns - kKeptBeforeNs));
  if (first != trace.times_ns.end() && *first < start_ns - kOldestNs) {
    ++first;
  }
  const auto dropped = first - trace.times_ns.begin();
  trace.times_ns.erase(trace.times_ns.begin(), first);
  trace.micros.erase(trace.micros.begin(), trace.micros.begin() + dropped);
}

Result<SpawnResult> spawn_with_meter(AgentClient& agent, const SpawnRequest& request,
                                     const std::vector<std::string>& meter) {
  if (meter.empty()) {
    return agent.spawn(request);
  }
  ASSAY_ASSIGN_OR_RETURN(const auto offset, align_clocks(agent));
  auto started = Meter::start(meter);
  ASSAY_ASSIGN_OR_RETURN(auto result, agent.spawn(request));
  if (!result.traces) {
    // Nobody has noted the start: the process has ended just now.
    const auto now_ns = boottime_ns() + offset.value_or(ClockOffset()).ns;
    result.traces =
        LaunchTraces{.period_ns = request.trace_period_ns,
                     .start_ns = std::max<std::int64_t>(0, now_ns - result.end.wall_ns)};
  }
  auto trace = started ? (*started)->stop() : Result<DeviceTrace>(std::unexpected(started.error()));
  if (!offset) {
    trace = fail(ErrorCode::kUnavailable,
                 "cannot be aligned: the agent of the device does not tell its clock");
  }
  add_meter(std::move(trace), offset.value_or(ClockOffset()), *result.traces);
  return result;
}

}  // namespace assay
