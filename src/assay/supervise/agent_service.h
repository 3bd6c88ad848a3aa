#pragma once

#include <cstdint>

#include "assay/supervise/spawn.h"

namespace assay {

enum class AgentEnd : std::uint8_t {
  kBye,        ///< Bye, or the end of the stream: all well.
  kSignal,     ///< Told to stop.
  kCorrupt,    ///< The input was no frame; it was answered with an error of request 0.
  kAbandoned,  ///< The patience with the host is over.
};

/// How long an agent waits for a host that asked for heartbeats: behind a link that was lost there
/// may be no end of the stream. Other hosts are waited for without a limit.
struct HostPatience {
  std::int64_t idle_ns = 600'000'000'000;   ///< Wait for a request or the rest of one.
  std::int64_t unread_ns = 30'000'000'000;  ///< Limit of the wait until the host reads on.
};

/// Answers requests until bye, the end of the stream, data on cancel.readable_fd, or the end of
/// the patience.
AgentEnd serve_agent(int read_fd, int write_fd, const SpawnCancel& cancel,
                     const HostPatience& patience = {});

}  // namespace assay
