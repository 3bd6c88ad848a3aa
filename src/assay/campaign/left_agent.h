#pragma once

#include <optional>
#include <string>

namespace assay {

/// The id, on the device, of an agent that keeps it locked for a process of this machine that has
/// ended: its link broke, so that nothing told it. `refusal`: the message of AgentClient::lock(),
/// whose holder is a process_identity(). Absent where the holder lives, or is of another machine.
std::optional<std::string> find_left_agent(const std::string& refusal);

}  // namespace assay
