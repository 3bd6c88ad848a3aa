#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/device_trace.h"
#include "assay/record/spawn.h"
#include "assay/supervise/agent_client.h"

namespace assay {

/// Drops readings of more than a second before the process started: a meter runs while the device
/// cools and companions start, and such readings are of no launch. Keeps the last one before the
/// start, however long ago within 50 s: a meter that reads seldom has no other.
void drop_early_readings(std::int64_t start_ns, DeviceTrace& trace);

/// AgentClient::spawn() with a meter that reads meanwhile, whose readings become the channel
/// "meter" of the traces, on the clock of the device. A meter that fails is a missing channel and
/// never an error.
///
/// `meter`: its command on this machine; empty: none. The clocks are aligned before the launch by
/// the shortest of three round trips of `conditions`, to half of it (LaunchTraces::clock_error_ns).
/// Errors: those of AgentClient::spawn().
Result<SpawnResult> spawn_with_meter(AgentClient& agent, const SpawnRequest& request,
                                     const std::vector<std::string>& meter);

}  // namespace assay
