#include "assay/campaign/launch_order.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/error_code_names.h"  // IWYU pragma: keep
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/uuid.h"
#include "assay/record/axes.h"
#include "assay/record/launch.h"
#include "assay/record/sandbox.h"
#include "assay/record/spawn.h"
#include "assay/supervise/agent_client.h"
#include "assay/supervise/cause_of_death.h"
#include "assay/wire/frame.h"
#include "assay/wire/messages.h"
#include "assay/wire/runner_environment.h"

namespace assay {
namespace {

using wire::Frame;
using wire::MessageType;

constexpr std::uint32_t kLoadRequest = 2;
constexpr std::uint32_t kPassRequest = 3;

/// A launch runs in a folder of its own: what is relative begins at ours.
std::string absolute_path(const std::filesystem::path& path) {
  return path.empty() ? std::string() : std::filesystem::absolute(path).string();
}

wire::Load load_message(const LaunchOrder& order) {
  const std::filesystem::path folder(absolute_path(order.artifact.folder));
  wire::Load load{.entry = absolute_path(folder / order.artifact.entry),
                  .method = order.method,
                  .options = order.options};
  std::ranges::transform(order.libraries, std::back_inserter(load.libraries), absolute_path);
  for (const auto& file : order.artifact.files) {
    if (file.role == "data") {
      load.data.push_back((folder / file.name).string());
    }
  }
  return load;
}

Frame pass_frame(const LaunchOrder& order) {
  auto inputs = order.inputs;
  inputs.file = absolute_path(inputs.file);
  switch (order.pass) {
    case Pass::kTiming:
      return wire::frame_of(MessageType::kMeasure, kPassRequest,
                            wire::Measure{.inputs = inputs, .plan = order.plan});
    case Pass::kEvaluate:
      return wire::frame_of(MessageType::kInfer, kPassRequest,
                            wire::Infer{.inputs = inputs, .repeat = order.repeat});
    case Pass::kMemory:
    case Pass::kProfile:
      break;
  }
  return wire::frame_of(order.pass == Pass::kMemory ? MessageType::kMemory : MessageType::kProfile,
                        kPassRequest,
                        wire::Observe{.inputs = inputs,
                                      .iterations = order.iterations,
                                      .time_budget_ns = order.time_budget_ns,
                                      .leak_loads = order.leak_loads,
                                      .leak_inferences = order.leak_inferences});
}

const Frame* find_reply(const std::vector<Frame>& frames, std::uint32_t request) {
  const auto is_reply = [request](const Frame& frame) {
    return frame.request == request && frame.type != MessageType::kStage &&
           frame.type != MessageType::kLog;
  };
  const auto found = std::ranges::find_if(frames, is_reply);
  return found == frames.end() ? nullptr : &*found;
}

void set_failure(Launch& launch, Outcome outcome, Stage stage, std::string reason,
                 std::string text) {
  launch.outcome = outcome;
  launch.stage = stage;
  launch.reason_code = std::move(reason);
  launch.text = std::move(text);
}

void set_failure_from_error(Launch& launch, const Frame& frame) {
  const auto error = wire::body_of<wire::ErrorBody>(frame).value_or(wire::ErrorBody{});
  set_failure(launch, outcome_from_error(error.code, error.stage), error.stage,
              error.engine_code.empty() ? std::string(name_of(error.code)) : error.engine_code,
              error.message);
}

template <class Body>
Status take_body(const Frame& frame, std::optional<Body>& target) {
  ASSAY_ASSIGN_OR_RETURN(target, wire::body_of<Body>(frame));
  return {};
}

Status take_measurement(const Frame& reply, Launch& launch) {
  ASSAY_ASSIGN_OR_RETURN(auto measurement, wire::body_of<Measurement>(reply));
  ASSAY_ASSIGN_OR_RETURN(measurement.samples, wire::samples_from_blob(reply.blob));
  launch.measurement = std::move(measurement);
  return {};
}

Status take_outputs(const Frame& reply, LaunchYield& yield) {
  ASSAY_ASSIGN_OR_RETURN(const auto body, wire::body_of<wire::InferReply>(reply));
  yield.differing_elements = body.differing_elements;
  yield.outputs = reply.blob;
  return {};
}

Status take_pass_reply(const Frame& reply, Pass pass, LaunchYield& yield) {
  switch (pass) {
    case Pass::kTiming:
      return take_measurement(reply, yield.launch);
    case Pass::kEvaluate:
      return take_outputs(reply, yield);
    case Pass::kMemory:
      return take_body(reply, yield.launch.memory);
    case Pass::kProfile:
      return take_body(reply, yield.launch.profile);
  }
  return {};
}

std::int64_t sum_of(const std::vector<std::int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

/// Wall time that went neither into loading nor into inference: start, wire, end.
std::int64_t overhead_of(const Launch& launch) {
  if (!launch.load || !launch.measurement) {
    return 0;
  }
  std::int64_t engine_ns = 0;
  for (const auto& stage : launch.load->stages) {
    engine_ns += stage.ns;
  }
  const auto& [first, samples] = std::tie(launch.measurement->first, launch.measurement->samples);
  engine_ns += first.bind_ns + first.execute_ns + first.fetch_ns;
  engine_ns += sum_of(samples.bind_ns) + sum_of(samples.execute_ns) + sum_of(samples.fetch_ns);
  return launch.end.wall_ns - engine_ns;
}

}  // namespace

namespace {

/// All that a launch reads beside the system: its runner, its program, its inputs.
std::vector<std::string> readable_paths(const LaunchOrder& order) {
  auto paths = order.build.reads;
  const auto load = load_message(order);
  paths.push_back(order.build.runner);
  paths.push_back(std::filesystem::path(load.entry).parent_path().string());
  paths.push_back(load.entry);
  paths.insert(paths.end(), load.data.begin(), load.data.end());
  paths.insert(paths.end(), load.libraries.begin(), load.libraries.end());
  if (!order.inputs.file.empty()) {
    paths.push_back(absolute_path(order.inputs.file));
  }
  return paths;
}

}  // namespace

std::vector<std::byte> job_bytes(const LaunchOrder& order) {
  std::vector<std::byte> bytes;
  wire::append_frame(bytes,
                     wire::frame_of(MessageType::kHello, 1, wire::Hello{.program = "assay"}));
  wire::append_frame(bytes, wire::frame_of(MessageType::kLoad, kLoadRequest, load_message(order)));
  wire::append_frame(bytes, pass_frame(order));
  wire::append_frame(bytes, wire::frame_of(MessageType::kUnload, 4, Json::object()));
  wire::append_frame(bytes, wire::frame_of(MessageType::kBye, 5, Json::object()));
  return bytes;
}

LaunchYield yield_from_answer(const SpawnResult& result, Pass pass) {
  LaunchYield yield;
  auto& launch = yield.launch;
  launch.id = make_uuid7();
  launch.before = result.before;
  launch.after = result.after;
  launch.end = result.end;
  const auto sequence = wire::frames_from_bytes(result.output);
  const auto* load = find_reply(sequence.frames, kLoadRequest);
  const auto* reply = find_reply(sequence.frames, kPassRequest);
  if (load != nullptr && load->type == MessageType::kLoad) {
    if (auto body = wire::body_of<LoadReport>(*load)) {
      launch.load = std::move(*body);
    }
  }
  for (const auto* frame : {load, reply}) {
    if (frame != nullptr && frame->type == MessageType::kError) {
      set_failure_from_error(launch, *frame);
      return yield;
    }
  }
  if (!result.companion_failure.empty()) {
    set_failure(launch, Outcome::kHarnessError, Stage::kSteady, "companion_ended",
                result.companion_failure);
    return yield;
  }
  const auto death = find_cause_of_death(result.end, sequence);
  if (death.outcome != Outcome::kCompleted) {
    set_failure(launch, death.outcome, death.stage, death.reason_code, death.text);
    return yield;
  }
  const auto status = reply == nullptr
                          ? Status(fail(ErrorCode::kInternal, "the runner answered nothing"))
                          : take_pass_reply(*reply, pass, yield);
  if (!status) {
    set_failure(launch, Outcome::kHarnessError, Stage::kFetch, "malformed_answer",
                status.error().message);
    return yield;
  }
  launch.overhead_ns = overhead_of(launch);
  return yield;
}

Result<LaunchYield> run_launch(AgentClient& agent, const LaunchOrder& order) {
  SpawnRequest request;
  request.argv = order.prefix;
  request.argv.push_back(order.build.runner);
  request.env = order.env;
  if (order.pass == Pass::kMemory) {
    request.env.emplace(wire::kCountAllocations, "1");
  }
  request.cpus = order.cpus;
  request.limits = order.limits;
  request.surroundings = order.surroundings;
  request.sandbox.mode = order.sandbox;
  if (order.sandbox != SandboxMode::kOff) {
    request.sandbox.readable = readable_paths(order);
    request.sandbox.writable = order.writable;
  }
  request.input = job_bytes(order);
  ASSAY_ASSIGN_OR_RETURN(const auto result, agent.spawn(request));
  return yield_from_answer(result, order.pass);
}

}  // namespace assay
