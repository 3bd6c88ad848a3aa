#include "assay/runner/service.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/enum_names.h"
#include "assay/base/result.h"
#include "assay/engine/engine.h"
#include "assay/measure/catch_all.h"
#include "assay/measure/leak_check.h"
#include "assay/measure/measure.h"
#include "assay/measure/memory_probe.h"
#include "assay/measure/observe.h"
#include "assay/measure/observe_profile.h"
#include "assay/measure/streams.h"
#include "assay/record/axes.h"
#include "assay/record/launch.h"
#include "assay/runner/input_loader.h"
#include "assay/runner/target.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/safetensors.h"
#include "assay/tensor/tensor.h"
#include "assay/wire/channel.h"
#include "assay/wire/frame.h"
#include "assay/wire/messages.h"

namespace assay {
namespace {

using wire::Frame;
using wire::MessageType;

/// Outputs of several executions of one sample.
struct RepeatedOutputs {
  std::vector<Tensor> outputs;  ///< Outputs of the first execution.
  std::int64_t differing_elements = 0;
};

std::int64_t count_differing_elements(const Tensor& first, const TensorView& again) {
  const std::size_t size = size_of_dtype(first.dtype);
  if (again.dtype != first.dtype || !std::ranges::equal(again.shape, first.shape) ||
      again.data.size() != first.data.size()) {
    return static_cast<std::int64_t>(std::max(again.data.size(), first.data.size()) / size);
  }
  std::int64_t differing = 0;
  for (std::size_t at = 0; at < first.data.size(); at += size) {
    differing += std::memcmp(first.data.data() + at, again.data.data() + at, size) != 0 ? 1 : 0;
  }
  return differing;
}

void take_outputs(std::span<const TensorView> outputs, RepeatedOutputs& result) {
  if (result.outputs.empty()) {
    for (const auto& output : outputs) {
      result.outputs.push_back(Tensor::copy_of(output));
    }
    return;
  }
  for (std::size_t i = 0; i < std::min(outputs.size(), result.outputs.size()); ++i) {
    result.differing_elements += count_differing_elements(result.outputs[i], outputs[i]);
  }
}

void name_tensors(std::string_view prefix, std::size_t sample, std::vector<Tensor> tensors,
                  std::vector<NamedTensor>& into) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    into.push_back({fmt::format("{}{}.{}", prefix, sample, i), std::move(tensors[i])});
  }
}

/// The program's files by the names that the kernel gives mapped files.
std::vector<std::string> program_files_of(const LoadRequest& request) {
  std::vector<std::string> files;
  std::error_code error;
  if (!request.entry.empty()) {
    files.push_back(std::filesystem::weakly_canonical(request.entry, error).string());
  }
  for (const auto& path : request.data) {
    files.push_back(std::filesystem::weakly_canonical(path, error).string());
  }
  return files;
}

/// Refuses what one answer cannot hold, before it is computed.
Status check_tensor_count(int samples, std::size_t tensors_each) {
  const auto most = kMostTensorsOfDocument / std::max<std::size_t>(tensors_each, 1);
  return samples < 0 || static_cast<std::size_t>(samples) <= most
             ? Status()
             : fail(ErrorCode::kInvalidArgument,
                    fmt::format("{} samples of {} tensors each are more than the {} tensors that "
                                "an answer holds; evaluate {} samples or fewer",
                                samples, tensors_each, kMostTensorsOfDocument, most));
}

Status check_protocol(const wire::Hello& hello) {
  if (hello.protocol_min > wire::kVersionMax || hello.protocol_max < wire::kVersionMin) {
    return fail(
        ErrorCode::kUnsupported,
        fmt::format("the host speaks protocol {} to {}, this runner {} to {}; use a runner "
                    "and an assay of one version",
                    hello.protocol_min, hello.protocol_max, wire::kVersionMin, wire::kVersionMax));
  }
  return {};
}

}  // namespace

Result<EngineDescription> describe_engine(Engine& engine) {
  auto description = catch_all([&engine] { return engine.describe(); });
  if (description && description->target.empty()) {
    description->target = kTargetTriple;
  }
  return description;
}

RunnerService::RunnerService(Engine& engine, wire::Channel& channel, MemoryProbe probe)
    : engine_(engine), channel_(channel), probe_(std::move(probe)) {
  read_memory("start");  // So that what the probe itself keeps is there at every stage.
  start_memory_ = read_memory("start");
}

std::optional<MemoryStage> RunnerService::read_memory(std::string_view stage) const {
  if (!probe_.read_stage) {
    return std::nullopt;
  }
  auto reading = probe_.read_stage(stage, program_files_of(load_request_));
  return reading ? std::optional(*std::move(reading)) : std::nullopt;
}

Status RunnerService::serve() {
  for (;;) {
    auto received = channel_.receive();
    if (!received) {
      [[maybe_unused]] const auto told =
          channel_.send(wire::error_frame(0, received.error(), stage_));
      return std::unexpected(std::move(received).error());
    }
    if (!received->has_value()) {
      return {};
    }
    const Frame& request = received->value();
    request_ = request.request;
    auto reply = answer_or_catch(request);
    ASSAY_RETURN_IF_ERROR(wire_status_);
    ASSAY_RETURN_IF_ERROR(
        channel_.send(reply ? *reply : wire::error_frame(request.request, reply.error(), stage_)));
    if (request.type == MessageType::kBye) {
      return {};
    }
  }
}

Result<Frame> RunnerService::answer_or_catch(const Frame& request) {
  return catch_all([&] { return answer(request); });
}

Result<Frame> RunnerService::answer(const Frame& request) {
  switch (request.type) {
    case MessageType::kHello:
      return hello(request);
    case MessageType::kDescribe: {
      ASSAY_ASSIGN_OR_RETURN(const auto* description, describe());
      return frame_of(request.type, request.request, *description);
    }
    case MessageType::kLoad:
      return load(request);
    case MessageType::kInfer:
      return infer(request);
    case MessageType::kMeasure:
      return measure(request);
    case MessageType::kProfile:
      return profile(request);
    case MessageType::kMemory:
      return memory(request);
    case MessageType::kResetState:
      return reset_state(request);
    case MessageType::kUnload:
      return unload(request);
    case MessageType::kBye:
      return Frame{.type = request.type, .request = request.request};
    default:
      return fail(ErrorCode::kUnsupported,
                  fmt::format("a runner does not answer messages of type {} ({})",
                              name_of(request.type), static_cast<int>(request.type)));
  }
}

Result<const EngineDescription*> RunnerService::describe() {
  if (!description_) {
    ASSAY_ASSIGN_OR_RETURN(description_, describe_engine(engine_));
  }
  return &*description_;
}

Result<Frame> RunnerService::hello(const Frame& request) {
  ASSAY_ASSIGN_OR_RETURN(const auto theirs, wire::body_of<wire::Hello>(request));
  ASSAY_RETURN_IF_ERROR(check_protocol(theirs));
  ASSAY_ASSIGN_OR_RETURN(const auto* description, describe());
  return frame_of(request.type, request.request,
                  wire::Hello{.program = "assay-runner-" + description->name,
                              .engine = description->name,
                              .version = description->version,
                              .build_id = description->build_id,
                              .target = description->target,
                              .clock_resolution_ns = measure_clock_resolution_ns()});
}

Result<Frame> RunnerService::load(const Frame& request) {
  note(Stage::kLoad);
  session_.reset();
  load_failure_ = "the load request failed";
  ASSAY_ASSIGN_OR_RETURN(auto body, wire::body_of<wire::Load>(request));
  ASSAY_ASSIGN_OR_RETURN(const auto* description, describe());
  LoadRequest what{.entry = std::move(body.entry), .method = std::move(body.method)};
  what.data.assign(body.data.begin(), body.data.end());
  what.libraries.assign(body.libraries.begin(), body.libraries.end());
  ASSAY_ASSIGN_OR_RETURN(what.options, validate_options(body.options, description->options));
  auto loaded = engine_.load(what);
  if (!loaded) {
    load_failure_ = loaded.error().message;
    return std::unexpected(std::move(loaded).error());
  }
  session_ = *std::move(loaded);
  load_request_ = std::move(what);
  loaded_memory_ = read_memory("loaded");
  return frame_of(request.type, request.request, session_->report());
}

Result<Session*> RunnerService::loaded_session() {
  if (session_ == nullptr) {
    return fail(ErrorCode::kInvalidArgument,
                "no program is loaded: send load first" +
                    (load_failure_.empty() ? "" : " (" + load_failure_ + ")"));
  }
  return session_.get();
}

Result<std::vector<std::unique_ptr<Session>>> RunnerService::load_again(int count) {
  std::vector<std::unique_ptr<Session>> sessions;
  for (int i = 0; i < count; ++i) {
    ASSAY_ASSIGN_OR_RETURN(auto session, engine_.load(load_request_));
    sessions.push_back(std::move(session));
  }
  return sessions;
}

Result<Frame> RunnerService::infer(const Frame& request) {
  ASSAY_ASSIGN_OR_RETURN(const auto body, wire::body_of<wire::Infer>(request));
  ASSAY_ASSIGN_OR_RETURN(auto* session, loaded_session());
  const auto& report = session->report();
  ASSAY_RETURN_IF_ERROR(
      check_tensor_count(body.inputs.samples,
                         report.outputs.size() + (body.return_inputs ? report.inputs.size() : 0)));
  ASSAY_ASSIGN_OR_RETURN(auto samples, load_samples(body.inputs, request.blob, report.inputs));
  wire::InferReply reply{.samples = static_cast<int>(samples.size()),
                         .repeat = std::max(1, body.repeat)};
  std::vector<NamedTensor> tensors;
  note(Stage::kFirst);
  for (std::size_t s = 0; s < samples.size(); ++s) {
    RepeatedOutputs repeated;
    const auto views = views_of(samples[s]);
    for (int r = 0; r < reply.repeat; ++r) {
      const auto outputs = infer_once(*session, views);
      if (!outputs) {
        return fail_with_context(outputs.error(), fmt::format("sample {}", s));
      }
      take_outputs(*outputs, repeated);
      if (s == 0 && r == 0) {
        note(Stage::kSteady);
      }
    }
    reply.differing_elements += repeated.differing_elements;
    name_tensors("", s, std::move(repeated.outputs), tensors);
    if (body.return_inputs) {
      name_tensors("in.", s, std::move(samples[s]), tensors);
    }
  }
  note(Stage::kFetch);
  Frame answer = frame_of(request.type, request.request, reply);
  answer.blob = safetensors_from_tensors(tensors);
  return answer;
}

Result<Frame> RunnerService::measure(const Frame& request) {
  ASSAY_ASSIGN_OR_RETURN(const auto body, wire::body_of<wire::Measure>(request));
  ASSAY_ASSIGN_OR_RETURN(auto* session, loaded_session());
  ASSAY_ASSIGN_OR_RETURN(const auto samples,
                         load_samples(body.inputs, request.blob, session->report().inputs));
  const auto inputs = views_of(samples.front());
  std::unique_ptr<Streams> others;
  if (body.plan.streams > 1) {
    ASSAY_ASSIGN_OR_RETURN(auto sessions, load_again(body.plan.streams - 1));
    ASSAY_ASSIGN_OR_RETURN(others, Streams::start(std::move(sessions), inputs));
  }
  ASSAY_ASSIGN_OR_RETURN(const auto measurement,
                         assay::measure(*session, inputs, body.plan, listener(), others.get()));
  if (others) {
    ASSAY_RETURN_IF_ERROR(others->stop());
  }
  Frame answer = frame_of(request.type, request.request, measurement);
  answer.blob = wire::blob_from_samples(measurement.samples);
  return answer;
}

Result<Frame> RunnerService::profile(const Frame& request) {
  ASSAY_ASSIGN_OR_RETURN(const auto body, wire::body_of<wire::Observe>(request));
  ASSAY_ASSIGN_OR_RETURN(auto* session, loaded_session());
  ASSAY_ASSIGN_OR_RETURN(const auto samples,
                         load_samples(body.inputs, request.blob, session->report().inputs));
  const auto inputs = views_of(samples.front());
  ASSAY_ASSIGN_OR_RETURN(const auto report, observe_profile(*session, inputs,
                                                            {.iterations = body.iterations,
                                                             .time_budget_ns = body.time_budget_ns},
                                                            listener()));
  return frame_of(request.type, request.request, report);
}

Result<Frame> RunnerService::memory(const Frame& request) {
  ASSAY_ASSIGN_OR_RETURN(const auto body, wire::body_of<wire::Observe>(request));
  ASSAY_ASSIGN_OR_RETURN(auto* session, loaded_session());
  if (!start_memory_ || !loaded_memory_) {
    return fail(ErrorCode::kUnavailable, "this system does not tell the memory of a process");
  }
  ASSAY_ASSIGN_OR_RETURN(const auto samples,
                         load_samples(body.inputs, request.blob, session->report().inputs));
  const auto inputs = views_of(samples.front());
  load_failure_ = "the memory pass unloaded it";
  const MemoryPass pass{.iterations = body.iterations,
                        .start = *start_memory_,
                        .loaded = *loaded_memory_,
                        .program_files = program_files_of(load_request_)};
  ASSAY_ASSIGN_OR_RETURN(auto report,
                         observe_memory(std::move(session_), inputs, pass, probe_, listener()));
  if (body.leak_loads > 0 || body.leak_inferences > 0) {
    note(Stage::kSteady);
    const LeakPlan plan{.loads = body.leak_loads,
                        .inferences = body.leak_inferences,
                        .time_budget_ns = body.time_budget_ns};
    ASSAY_ASSIGN_OR_RETURN(
        report.leak_series,
        check_leaks(plan, [this] { return engine_.load(load_request_); }, inputs, probe_));
  }
  return frame_of(request.type, request.request, report);
}

Result<Frame> RunnerService::reset_state(const Frame& request) {
  ASSAY_ASSIGN_OR_RETURN(auto* session, loaded_session());
  ASSAY_RETURN_IF_ERROR(session->reset_state());
  return Frame{.type = request.type, .request = request.request};
}

Result<Frame> RunnerService::unload(const Frame& request) {
  ASSAY_RETURN_IF_ERROR(loaded_session());
  note(Stage::kUnload);
  session_.reset();
  load_failure_ = "it was unloaded";
  return Frame{.type = request.type, .request = request.request};
}

void RunnerService::note(Stage stage) {
  stage_ = stage;
  if (wire_status_) {
    wire_status_ =
        channel_.send(frame_of(MessageType::kStage, request_, wire::StageNote{.stage = stage}));
  }
}

StageListener RunnerService::listener() {
  return [this](Stage stage) { note(stage); };
}

}  // namespace assay
