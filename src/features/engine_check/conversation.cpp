#include "features/engine_check/conversation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/record/launch.h"
#include "assay/record/spawn.h"
#include "assay/supervise/exit_cause.h"
#include "assay/tensor/safetensors.h"
#include "assay/tensor/tensor.h"
#include "assay/wire/frame.h"
#include "assay/wire/messages.h"

namespace assay {
namespace {

using wire::Frame;
using wire::MessageType;

constexpr std::uint32_t kHelloRequest = 1;

}  // namespace

Result<Frame> Conversation::answer(std::size_t question) const {
  const auto found = std::ranges::find(answers, question + kHelloRequest + 1, &Frame::request);
  if (found == answers.end()) {
    return fail(ErrorCode::kCrashed, death.empty() ? "it was not answered" : death);
  }
  if (found->type == MessageType::kError) {
    return std::unexpected(wire::error_from_frame(*found));
  }
  return *found;
}

Frame Interviewer::load_frame(const Json& more_options) const {
  wire::Load load{.entry = path_there(request_.entry), .options = request_.options};
  std::ranges::transform(request_.data, std::back_inserter(load.data),
                         [this](const auto& file) { return path_there(file); });
  load.options.update(more_options);
  return wire::frame_of(MessageType::kLoad, 0, load);
}

std::string Interviewer::path_there(const std::filesystem::path& file) const {
  return request_.place.empty() ? std::filesystem::absolute(file).string()
                                : (request_.place / file.filename()).string();
}

Result<Conversation> Interviewer::ask(std::vector<Frame> questions,
                                      const std::map<std::string, std::string>& env) {
  SpawnRequest spawn{.argv = request_.argv, .env = env};
  if (spawn.argv.empty()) {
    spawn.argv = {request_.build.runner};
  }
  spawn.limits.wall_ns = request_.deadline_ns + request_.leak_budget_ns;
  wire::append_frame(spawn.input, wire::frame_of(MessageType::kHello, kHelloRequest,
                                                 wire::Hello{.program = "assay"}));
  std::uint32_t id = kHelloRequest;
  questions.push_back({.type = MessageType::kBye});
  for (auto& question : questions) {
    question.request = ++id;
    wire::append_frame(spawn.input, question);
  }
  ASSAY_ASSIGN_OR_RETURN(const auto result, agent_.spawn(spawn));
  auto sequence = wire::frames_from_bytes(result.output);
  Conversation conversation{.wall_ns = result.end.wall_ns};
  if (const auto death = find_exit_cause(result.end, sequence);
      death.outcome != Outcome::kCompleted) {
    conversation.death = death.text.empty() ? death.reason_code : death.text;
  }
  std::erase_if(sequence.frames, [](const Frame& frame) {
    return frame.type == MessageType::kStage || frame.type == MessageType::kLog ||
           frame.type == MessageType::kHello;
  });
  conversation.answers = std::move(sequence.frames);
  return conversation;
}

Frame infer_frame(int repeat) {
  return wire::frame_of(MessageType::kInfer, 0,
                        wire::Infer{.inputs = {.is_generated = true}, .repeat = repeat});
}

Frame infer_frame(const std::vector<Tensor>& inputs) {
  std::vector<NamedTensor> named;
  named.reserve(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    named.push_back({fmt::format("0.{}", i), inputs[i]});
  }
  auto frame = wire::frame_of(MessageType::kInfer, 0, wire::Infer{.inputs = {.in_blob = true}});
  frame.blob = safetensors_from_tensors(named);
  return frame;
}

Frame measure_frame(const MeasurePlan& plan) {
  return wire::frame_of(MessageType::kMeasure, 0,
                        wire::Measure{.inputs = {.is_generated = true}, .plan = plan});
}

}  // namespace assay
