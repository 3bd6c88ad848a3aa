#include "assay/supervise/agent.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <time.h>

#include "assay/base/clock.h"
#include "assay/base/enum_names.h"
#include "assay/base/result.h"
#include "assay/device/conditions.h"
#include "assay/device/environment.h"
#include "assay/device/text_fields.h"
#include "assay/record/axes.h"
#include "assay/record/spawn.h"
#include "assay/supervise/agent_files.h"
#include "assay/supervise/held_device.h"
#include "assay/supervise/spawn.h"
#include "assay/wire/agent_messages.h"
#include "assay/wire/frame.h"
#include "assay/wire/messages.h"

namespace assay {
namespace {

using wire::Frame;
using wire::MessageType;

constexpr const char* kBootIdFile = "/proc/sys/kernel/random/boot_id";

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

std::int64_t uptime_ns() {
  timespec now{};
  constexpr std::int64_t kSecondNs = 1'000'000'000;
  return ::clock_gettime(CLOCK_BOOTTIME, &now) == 0 ? now.tv_sec * kSecondNs + now.tv_nsec : 0;
}

/// 0 for a host that wants none.
std::int64_t heartbeat_ns_for(std::int64_t wanted_ns) {
  constexpr std::int64_t kLeastNs = 1'000'000;
  constexpr std::int64_t kMostNs = 3'600'000'000'000;
  return wanted_ns <= 0 ? 0 : std::clamp(wanted_ns, kLeastNs, kMostNs);
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
      {MessageType::kLock, &Agent::lock},
      {MessageType::kPolicy, &Agent::policy},
      {MessageType::kSpace, &Agent::space},
      {MessageType::kPrune, &Agent::prune},
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
  heartbeat_ns_ = heartbeat_ns_for(theirs.heartbeat_ns);
  note_restored(restore_settings_left_in(storage_.home()));
  remove_unused_agents(storage_.home());
  const wire::Hello hello{.program = "assay-agent",
                          .version = ASSAY_VERSION,
                          .target = ASSAY_TARGET,
                          .clock_resolution_ns = measure_clock_resolution_ns(),
                          .heartbeat_ns = heartbeat_ns_,
                          .boot_id = read_system_text(kBootIdFile).value_or(""),
                          .home = storage_.home().string(),
                          .uptime_ns = uptime_ns()};
  return wire::frame_of(MessageType::kHello, request.request, hello);
}

void Agent::note_restored(std::string told) {
  if (!told.empty()) {
    restored_ = std::move(told);
  }
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

Result<Frame> Agent::lock(Frame& request) {
  ASSAY_ASSIGN_OR_RETURN(const auto wanted, wire::body_of<wire::Lock>(request));
  if (device_) {
    device_->name_holder(wanted.holder);
  } else {
    ASSAY_ASSIGN_OR_RETURN(auto taken, HeldDevice::take(storage_.home(), wanted.holder));
    if (const auto* other = std::get_if<DeviceHolder>(&taken)) {
      return reply_of(request,
                      Json(wire::LockReply{.held_by = other->text, .agent = other->agent}));
    }
    device_ = std::get<HeldDevice>(std::move(taken));
    storage_.forget_claims();  // Who had it before may have emptied the folder.
    remove_left_wrappers(storage_.home());
  }
  note_restored(settings_.restore_left());
  return reply_of(request, Json(wire::LockReply{.restored = std::exchange(restored_, "")}));
}

Result<Frame> Agent::policy(Frame& request) {
  ASSAY_ASSIGN_OR_RETURN(const auto policy, wire::body_of<wire::Policy>(request));
  if (!device_) {
    return fail(ErrorCode::kInvalidArgument, "lock the device before its settings are changed");
  }
  ASSAY_ASSIGN_OR_RETURN(const auto reply, settings_.apply(policy));
  return reply_of(request, Json(reply));
}

Result<Frame> Agent::space(Frame& request) {
  ASSAY_ASSIGN_OR_RETURN(const auto space, storage_.space());
  return reply_of(request, Json(space));
}

Result<Frame> Agent::prune(Frame& request) {
  ASSAY_ASSIGN_OR_RETURN(const auto prune, wire::body_of<wire::Prune>(request));
  ASSAY_ASSIGN_OR_RETURN(const auto removed_bytes, storage_.prune(prune.keep_bytes));
  return reply_of(request, Json(wire::PruneReply{.removed_bytes = removed_bytes}));
}

Result<Frame> Agent::spawn(Frame& request) {
  ASSAY_ASSIGN_OR_RETURN(auto spawn_request, wire::body_of<SpawnRequest>(request));
  spawn_request.input = std::move(request.blob);
  ASSAY_ASSIGN_OR_RETURN(auto result, spawn_and_wait(spawn_request, cancel_));
  result.before.set_frequency_hz = settings_.frequency_hz();
  result.after.set_frequency_hz = settings_.frequency_hz();
  auto reply = reply_of(request, Json(result));
  reply.blob = std::move(result.output);
  return reply;
}

Result<Frame> Agent::conditions(Frame& request) {
  auto conditions = read_conditions();
  conditions.set_frequency_hz = settings_.frequency_hz();
  return reply_of(request, Json(conditions));
}

Result<Frame> Agent::environment(Frame& request) {
  return reply_of(request, Json(read_environment()));
}

Result<Frame> Agent::bye(Frame& request) { return reply_of(request, Json::object()); }

}  // namespace assay
