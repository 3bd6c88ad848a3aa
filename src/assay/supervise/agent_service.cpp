#include "assay/supervise/agent_service.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include <poll.h>

#include "assay/base/log.h"
#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/supervise/agent.h"
#include "assay/supervise/agent_home.h"
#include "assay/supervise/heartbeat.h"
#include "assay/supervise/spawn.h"
#include "assay/wire/channel.h"
#include "assay/wire/frame.h"
#include "assay/wire/messages.h"

namespace assay {
namespace {

int poll_ms_from_ns(std::int64_t ns) {
  constexpr std::int64_t kMillisecondNs = 1'000'000;
  return static_cast<int>(
      std::clamp<std::int64_t>(ns / kMillisecondNs, 1, std::numeric_limits<int>::max()));
}

/// The conversation with one host.
class AgentService {
 public:
  AgentService(int read_fd, int write_fd, const SpawnCancel& cancel, const HostPatience& patience)
      : read_fd_(read_fd),
        write_fd_(write_fd),
        stop_fd_(cancel.readable_fd),
        patience_(patience),
        channel_(read_fd, write_fd),
        agent_(agent_home(), cancel) {}

  AgentEnd run() {
    std::optional<AgentEnd> end;
    while (!end) {
      end = wait_for_input();
      end = end ? end : serve_one();
    }
    return *end;
  }

 private:
  [[nodiscard]] bool has_limits() const { return agent_.heartbeat_ns() > 0; }
  [[nodiscard]] int idle_ms() const {
    return has_limits() ? poll_ms_from_ns(patience_.idle_ns) : -1;
  }
  [[nodiscard]] int unread_ms() const {
    return has_limits() ? poll_ms_from_ns(patience_.unread_ns) : -1;
  }

  std::optional<AgentEnd> wait_for_input() const {
    while (true) {
      std::array<pollfd, 2> fds{
          {{.fd = read_fd_, .events = POLLIN}, {.fd = stop_fd_, .events = POLLIN}}};
      const int ready = ::poll(fds.data(), fds.size(), idle_ms());
      if (ready == 0) {
        return AgentEnd::kAbandoned;
      }
      if (ready > 0 && fds[1].revents == 0) {
        return std::nullopt;
      }
      if (ready > 0 || errno != EINTR) {
        return AgentEnd::kSignal;
      }
    }
  }

  std::optional<AgentEnd> serve_one() {
    // Begins with the first byte: over a slow link the rest of a request takes long.
    Heartbeat heartbeat(channel_, agent_.heartbeat_ns(), unread_ms());
    auto received = channel_.receive(-1, idle_ms());
    if (received && *received) {
      return answer(**std::move(received), heartbeat);
    }
    heartbeat.stop();
    return received ? AgentEnd::kBye : refuse(received.error());
  }

  AgentEnd refuse(const Error& error) {
    log_line(LogLevel::kError, "assay-agent: " + error.message);
    // The host may be gone as well; there is nobody to tell then.
    [[maybe_unused]] const auto told =
        channel_.send(wire::error_frame(0, error, Stage::kStart), unread_ms());
    return error.code == ErrorCode::kTimeout ? AgentEnd::kAbandoned : AgentEnd::kCorrupt;
  }

  std::optional<AgentEnd> answer(wire::Frame request, Heartbeat& heartbeat) {
    const auto type = request.type;
    const auto reply = agent_.answer(std::move(request));
    if (!heartbeat.stop()) {
      return AgentEnd::kAbandoned;
    }
    if (type == wire::MessageType::kHello && has_limits()) {
      wire::stop_blocking(write_fd_);
    }
    const auto sent = channel_.send(reply, unread_ms());
    if (!sent) {
      return sent.error().code == ErrorCode::kTimeout ? AgentEnd::kAbandoned : AgentEnd::kBye;
    }
    return type == wire::MessageType::kBye ? std::optional(AgentEnd::kBye) : std::nullopt;
  }

  int read_fd_;
  int write_fd_;
  int stop_fd_;
  HostPatience patience_;
  wire::Channel channel_;
  Agent agent_;
};

}  // namespace

AgentEnd serve_agent(int read_fd, int write_fd, const SpawnCancel& cancel,
                     const HostPatience& patience) {
  return AgentService(read_fd, write_fd, cancel, patience).run();
}

}  // namespace assay
