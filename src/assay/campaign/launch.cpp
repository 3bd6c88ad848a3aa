#include "assay/campaign/launch.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/error_code_names.h"  // IWYU pragma: keep
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/text.h"
#include "assay/base/uuid.h"
#include "assay/campaign/launch_paths.h"
#include "assay/record/axes.h"
#include "assay/record/conclusion.h"
#include "assay/record/launch.h"
#include "assay/record/sandbox.h"
#include "assay/record/spawn.h"
#include "assay/supervise/exit_cause.h"
#include "assay/wire/answer_body.h"
#include "assay/wire/answer_check.h"
#include "assay/wire/frame.h"
#include "assay/wire/messages.h"
#include "assay/wire/runner_environment.h"

namespace assay {
namespace {

using wire::Frame;
using wire::MessageType;

constexpr std::uint32_t kHelloRequest = 1;
constexpr std::uint32_t kLoadRequest = 2;
constexpr std::uint32_t kPassRequest = 3;
constexpr std::uint32_t kUnloadRequest = 4;
constexpr std::uint32_t kByeRequest = 5;

std::string absolute_path(const std::filesystem::path& path) {
  return path.empty() ? std::string() : std::filesystem::absolute(path).string();
}

wire::Infer infer_message(const LaunchRequest& request) {
  return {.inputs = request.inputs, .repeat = request.repeat};
}

wire::Observe observe_message(const LaunchRequest& request) {
  return {.inputs = request.inputs,
          .iterations = request.iterations,
          .time_budget_ns = request.time_budget_ns,
          .leak_loads = request.leak_loads,
          .leak_inferences = request.leak_inferences};
}

Frame pass_frame(const LaunchRequest& request) {
  switch (request.pass) {
    case Pass::kTiming:
      return wire::frame_of(MessageType::kMeasure, kPassRequest,
                            wire::Measure{.inputs = request.inputs, .plan = request.plan});
    case Pass::kEvaluate:
      return wire::frame_of(MessageType::kInfer, kPassRequest, infer_message(request));
    case Pass::kMemory:
    case Pass::kProfile:
      break;
  }
  return wire::frame_of(
      request.pass == Pass::kMemory ? MessageType::kMemory : MessageType::kProfile, kPassRequest,
      observe_message(request));
}

std::vector<Frame> request_frames(const LaunchRequest& request) {
  return {wire::frame_of(MessageType::kHello, kHelloRequest, wire::Hello{.program = "assay"}),
          wire::frame_of(MessageType::kLoad, kLoadRequest, load_of_launch(request)),
          pass_frame(request), wire::frame_of(MessageType::kUnload, kUnloadRequest, Json::object()),
          wire::frame_of(MessageType::kBye, kByeRequest, Json::object())};
}

const Frame* find_reply(const std::vector<Frame>& frames, std::uint32_t id) {
  const auto is_reply = [id](const Frame& frame) {
    return frame.request == id && frame.type != MessageType::kStage &&
           frame.type != MessageType::kLog;
  };
  const auto found = std::ranges::find_if(frames, is_reply);
  return found == frames.end() ? nullptr : &*found;
}

/// One launch's answers on their way from frames to records.
class AnswerReader {
 public:
  AnswerReader(const SpawnResult& answer, const LaunchRequest& request,
               const std::vector<Frame>& frames, LaunchResult& result)
      : wall_ns_(answer.end.wall_ns), request_(request), frames_(frames), result_(result) {}

  /// Also of a launch that fails later: how it loaded is kept, where that can be true.
  Status take_load() {
    const auto* load = find_reply(frames_, kLoadRequest);
    if (load == nullptr || load->type != MessageType::kLoad) {
      return {};
    }
    ASSAY_ASSIGN_OR_RETURN(auto report, wire::body_from_answer<LoadReport>(*load));
    ASSAY_RETURN_IF_ERROR(wire::check_load_report(report, wall_ns_));
    result_.launch.load = std::move(report);
    return {};
  }

  Status check_frames() const {
    ASSAY_RETURN_IF_ERROR(wire::check_answers(frames_, request_frames(request_)));
    const auto* hello = find_reply(frames_, kHelloRequest);
    ASSAY_ASSIGN_OR_RETURN(const auto body, wire::body_from_answer<wire::Hello>(*hello));
    return wire::check_hello(body);
  }

  /// After take_load() and check_frames().
  Status take_pass() {
    const auto& reply = *find_reply(frames_, kPassRequest);
    switch (request_.pass) {
      case Pass::kTiming:
        return take_measurement(reply);
      case Pass::kEvaluate:
        return take_outputs(reply);
      case Pass::kMemory: {
        ASSAY_ASSIGN_OR_RETURN(auto report, wire::body_from_answer<MemoryReport>(reply));
        ASSAY_RETURN_IF_ERROR(wire::check_memory_report(report, observe_message(request_)));
        result_.launch.memory = std::move(report);
        return {};
      }
      case Pass::kProfile: {
        ASSAY_ASSIGN_OR_RETURN(auto report, wire::body_from_answer<ProfileReport>(reply));
        ASSAY_RETURN_IF_ERROR(
            wire::check_profile_report(report, observe_message(request_), wall_ns_));
        result_.launch.profile = std::move(report);
        return {};
      }
    }
    return {};
  }

 private:
  Status take_measurement(const Frame& reply) {
    ASSAY_ASSIGN_OR_RETURN(auto measurement, wire::body_from_answer<Measurement>(reply));
    ASSAY_ASSIGN_OR_RETURN(measurement.samples, wire::samples_from_blob(reply.blob));
    const auto load_ns = result_.launch.load ? wire::load_ns_from_report(*result_.launch.load) : 0;
    const auto left_ns = wall_ns_ - load_ns;
    ASSAY_RETURN_IF_ERROR(wire::check_measurement(measurement, request_.plan, left_ns));
    result_.launch.measurement = std::move(measurement);
    return {};
  }

  Status take_outputs(const Frame& reply) {
    ASSAY_ASSIGN_OR_RETURN(const auto body, wire::body_from_answer<wire::InferReply>(reply));
    const auto outputs = result_.launch.load ? result_.launch.load->outputs.size() : 0;
    ASSAY_RETURN_IF_ERROR(
        wire::check_infer_reply(body, infer_message(request_), outputs, reply.blob));
    result_.differing_elements = body.differing_elements;
    result_.outputs = reply.blob;
    return {};
  }

  std::int64_t wall_ns_;
  const LaunchRequest& request_;
  const std::vector<Frame>& frames_;
  LaunchResult& result_;
};

void set_malformed(Launch& launch, Stage stage, const Error& error) {
  set_conclusion(launch, {.outcome = outcome_from_error(ErrorCode::kCorrupt, stage),
                          .stage = stage,
                          .reason_code = "malformed_answer",
                          .text = "the runner's answer cannot be true: " + error.message});
}

/// `asked`: what the runner was at, in case it does not say, or names a stage before its own start.
void set_failure_from_error(Launch& launch, const Frame& frame, Stage asked) {
  const auto error = wire::body_from_answer<wire::ErrorBody>(frame);
  if (!error) {
    return set_malformed(launch, asked, error.error());
  }
  constexpr std::size_t kMostCodeBytes = 256;
  const auto stage = error->stage < Stage::kStart ? asked : error->stage;
  set_conclusion(launch, {.outcome = outcome_from_error(error->code, stage),
                          .stage = stage,
                          .reason_code = error->engine_code.empty()
                                             ? std::string(name_of(error->code))
                                             : capped_text(error->engine_code, kMostCodeBytes),
                          .text = capped_text(error->message)});
}

/// Wall time that went neither into loading nor into inference: start, wire, end. Pauses between
/// inferences, and those that have no sample, are part of the inference.
std::int64_t overhead_of(const Launch& launch) {
  if (!launch.load || !launch.measurement) {
    return 0;
  }
  std::int64_t engine_ns = launch.measurement->inferences_ns;
  for (const auto& stage : launch.load->stages) {
    engine_ns += stage.ns;
  }
  const auto& first = launch.measurement->first;
  engine_ns += first.bind_ns + first.execute_ns + first.fetch_ns;
  return launch.end.wall_ns - engine_ns;
}

}  // namespace

LaunchRequest with_absolute_paths(LaunchRequest request) {
  auto& folder = request.artifact.folder;
  if (folder.empty() && !request.artifact.entry.empty()) {
    folder = std::filesystem::current_path().string();
  }
  folder = absolute_path(folder);
  std::ranges::transform(request.libraries, request.libraries.begin(), absolute_path);
  request.inputs.file = absolute_path(request.inputs.file);
  return request;
}

SandboxRequest sandbox_request_from(const LaunchRequest& request) {
  if (request.sandbox == SandboxMode::kOff) {
    return {};
  }
  return {.mode = request.sandbox,
          .readable = paths_of_launch(with_absolute_paths(request)).readable,
          .writable = request.writable};
}

std::vector<std::byte> job_bytes(const LaunchRequest& request) {
  std::vector<std::byte> bytes;
  for (const auto& frame : request_frames(request)) {
    wire::append_frame(bytes, frame);
  }
  return bytes;
}

LaunchResult failed_launch(Conclusion conclusion) {
  LaunchResult result;
  result.launch.id = make_uuid7();
  set_conclusion(result.launch, std::move(conclusion));
  return result;
}

LaunchResult result_from_answer(const SpawnResult& answer, const LaunchRequest& request) {
  LaunchResult result;
  auto& launch = result.launch;
  launch.id = make_uuid7();
  launch.before = answer.before;
  launch.after = answer.after;
  launch.end = answer.end;
  if (answer.traces) {
    if (const auto possible =
            wire::check_traces(*answer.traces, request.trace_period_ns, answer.end.wall_ns);
        !possible) {
      set_conclusion(launch,
                     {.outcome = Outcome::kHarnessError,
                      .stage = Stage::kStart,
                      .reason_code = "malformed_answer",
                      .text = "the agent's answer cannot be true: " + possible.error().message});
      return result;
    }
    launch.traces = answer.traces;
  }
  const auto sequence = wire::frames_from_bytes(answer.output);
  AnswerReader reader(answer, request, sequence.frames, result);
  const auto loaded = reader.take_load();
  for (const auto& [id, stage] :
       {std::pair(kLoadRequest, Stage::kLoad), std::pair(kPassRequest, Stage::kFetch)}) {
    const auto* frame = find_reply(sequence.frames, id);
    if (frame != nullptr && frame->type == MessageType::kError) {
      set_failure_from_error(launch, *frame, stage);
      return result;
    }
  }
  if (!answer.companion_failure.empty()) {
    set_conclusion(launch, {.outcome = Outcome::kHarnessError,
                            .stage = Stage::kSteady,
                            .reason_code = "companion_ended",
                            .text = answer.companion_failure});
    return result;
  }
  auto cause = find_exit_cause(answer.end, sequence);
  if (cause.outcome != Outcome::kCompleted) {
    set_conclusion(launch, std::move(cause));
    return result;
  }
  if (!loaded) {
    set_malformed(launch, Stage::kLoad, loaded.error());
    return result;
  }
  auto answered = reader.check_frames();
  if (answered) {
    answered = reader.take_pass();
  }
  if (!answered) {
    set_malformed(launch, Stage::kFetch, answered.error());
    return result;
  }
  launch.overhead_ns = overhead_of(launch);
  return result;
}

SpawnRequest spawn_from_launch(const LaunchRequest& request) {
  SpawnRequest spawn;
  spawn.argv = request.prefix;
  spawn.argv.push_back(request.build.runner);
  spawn.env = request.env;
  if (request.pass == Pass::kMemory) {
    spawn.env.emplace(wire::kCountAllocations, "1");
  }
  spawn.cpus = request.cpus;
  spawn.trace_period_ns = request.trace_period_ns;
  spawn.limits = request.limits;
  spawn.surroundings = request.surroundings;
  spawn.sandbox = sandbox_request_from(request);
  spawn.input = job_bytes(with_absolute_paths(request));
  return spawn;
}

}  // namespace assay
