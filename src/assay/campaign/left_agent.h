#pragma once

#include <optional>
#include <string>

namespace assay {

/// Names this process to others that want the device that it has locked. Tells processes of this
/// start of this machine from those of others, which may have the same host name.
std::string lock_holder_text();

/// The id, on the device, of an agent that keeps it locked for a process of this machine that has
/// ended: its link broke, so that nothing told it. `refusal`: the message of AgentClient::lock().
/// Absent where the holder lives, or is of another machine.
std::optional<std::string> find_left_agent(const std::string& refusal);

}  // namespace assay
