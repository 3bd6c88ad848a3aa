#include "assay/supervise/agent.h"

#include <array>
#include <cerrno>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <poll.h>

#include "assay/base/clock.h"
#include "assay/base/enum_names.h"
#include "assay/base/log.h"
#include "assay/base/result.h"
#include "assay/device/conditions.h"
#include "assay/device/environment.h"
#include "assay/record/axes.h"
#include "assay/record/run.h"
#include "assay/record/spawn.h"
#include "assay/supervise/agent_home.h"
#include "assay/supervise/spawn.h"
#include "assay/wire/agent_messages.h"
#include "assay/wire/channel.h"
#include "assay/wire/frame.h"
#include "assay/wire/messages.h"

namespace assay {
namespace {

using wire::Frame;
using wire::MessageType;

Result<std::string> sha256_of(const Frame& request) {
  const auto field = request.body.find("sha256");
  if (field == request.body.end() || !field->is_string()) {
    return fail(ErrorCode::kInvalidArgument, "the field 'sha256' is missing, or not text");
  }
  return field->get<std::string>();
}

Frame reply_of(const Frame& request, Json body) {
  return {.type = request.type, .request = request.request, .body = std::move(body)};
}

/// False: told to stop.
bool wait_for_input(int read_fd, int stop_fd) {
  while (true) {
    std::array<pollfd, 2> fds{
        {{.fd = read_fd, .events = POLLIN}, {.fd = stop_fd, .events = POLLIN}}};
    if (::poll(fds.data(), fds.size(), -1) > 0) {
      return fds[1].revents == 0;
    }
    if (errno != EINTR) {
      return false;
    }
  }
}

}  // namespace

Frame Agent::answer(Frame request) {
  auto reply = dispatch(request);
  return reply ? *std::move(reply)
               : wire::error_frame(request.request, reply.error(), Stage::kStart);
}

Result<Frame> Agent::dispatch(Frame& request) {
  static constexpr auto kHandlers = std::to_array<std::pair<MessageType, Handler>>({
      {MessageType::kHello, &Agent::greet},
      {MessageType::kHas, &Agent::has},
      {MessageType::kPut, &Agent::put},
      {MessageType::kTree, &Agent::tree},
      {MessageType::kSpawn, &Agent::spawn},
      {MessageType::kConditions, &Agent::conditions},
      {MessageType::kEnvironment, &Agent::environment},
      {MessageType::kBye, &Agent::bye},
  });
  std::vector<std::string_view> known;
  for (const auto& [type, handler] : kHandlers) {
    if (type == request.type) {
      return (this->*handler)(request);
    }
    known.push_back(name_of(type));
  }
  return fail(
      ErrorCode::kUnsupported,
      fmt::format("assay-agent {} does not know message '{}' (type {}); it knows {}", ASSAY_VERSION,
                  name_of(request.type), static_cast<int>(request.type), fmt::join(known, ", ")));
}

Result<Frame> Agent::greet(Frame& request) {
  ASSAY_ASSIGN_OR_RETURN(const auto theirs, wire::body_of<wire::Hello>(request));
  ASSAY_RETURN_IF_ERROR(wire::agree_on_version(theirs));
  const wire::Hello hello{.program = "assay-agent",
                          .version = ASSAY_VERSION,
                          .target = ASSAY_TARGET,
                          .clock_resolution_ns = measure_clock_resolution_ns()};
  return wire::frame_of(MessageType::kHello, request.request, hello);
}

Result<Frame> Agent::has(Frame& request) {
  ASSAY_ASSIGN_OR_RETURN(const auto sha256, sha256_of(request));
  ASSAY_ASSIGN_OR_RETURN(const auto blob, storage_.find_blob(sha256));
  return reply_of(request, {{"has", blob.is_there}, {"path", blob.path}});
}

Result<Frame> Agent::put(Frame& request) {
  ASSAY_RETURN_IF_ERROR(sha256_of(request));
  ASSAY_ASSIGN_OR_RETURN(const auto part, wire::body_of<wire::Put>(request));
  ASSAY_ASSIGN_OR_RETURN(const auto reply, storage_.put(part, request.blob));
  return reply_of(request, Json(reply));
}

Result<Frame> Agent::tree(Frame& request) {
  ASSAY_ASSIGN_OR_RETURN(const auto tree, wire::body_of<wire::Tree>(request));
  ASSAY_ASSIGN_OR_RETURN(const auto reply, storage_.make_tree(tree));
  return reply_of(request, Json(reply));
}

Result<Frame> Agent::spawn(Frame& request) {
  ASSAY_ASSIGN_OR_RETURN(auto spawn_request, wire::body_of<SpawnRequest>(request));
  spawn_request.input = std::move(request.blob);
  ASSAY_ASSIGN_OR_RETURN(auto result, spawn_and_wait(spawn_request, cancel_));
  auto reply = reply_of(request, Json(result));
  reply.blob = std::move(result.output);
  return reply;
}

Result<Frame> Agent::conditions(Frame& request) {
  return reply_of(request, Json(read_conditions()));
}

Result<Frame> Agent::environment(Frame& request) {
  return reply_of(request, Json(read_environment()));
}

Result<Frame> Agent::bye(Frame& request) { return reply_of(request, Json::object()); }

AgentEnd serve_agent(int read_fd, int write_fd, const SpawnCancel& cancel) {
  wire::Channel channel(read_fd, write_fd);
  Agent agent(agent_home(), cancel);
  while (true) {
    if (!wait_for_input(read_fd, cancel.readable_fd)) {
      return AgentEnd::kSignal;
    }
    auto received = channel.receive();
    if (!received) {
      log_line(LogLevel::kError, "assay-agent: " + received.error().message);
      // The host may be gone as well; there is nobody to tell then.
      [[maybe_unused]] const auto told =
          channel.send(wire::error_frame(0, received.error(), Stage::kStart));
      return AgentEnd::kCorrupt;
    }
    auto& request = *received;
    if (!request) {
      return AgentEnd::kBye;
    }
    const bool is_bye = request->type == MessageType::kBye;
    const auto sent = channel.send(agent.answer(*std::move(request)));
    if (is_bye || !sent) {
      return AgentEnd::kBye;
    }
  }
}

}  // namespace assay
