// Checks of computing, refusing inputs, timing and profiling.
#include "features/engine_check/checks.h"
#include "features/engine_check/conversation.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/result.h"
#include "assay/engine/session.h"
#include "assay/record/launch.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/safetensors.h"
#include "assay/tensor/tensor.h"
#include "assay/wire/frame.h"
#include "assay/wire/messages.h"

namespace assay {
namespace {

constexpr const char* kNondeterministic = "nondeterministic";
constexpr int kRepeat = 3;
constexpr int kTimed = 20;

bool has_tag(const CheckContext& context, std::string_view tag) {
  return std::ranges::find(context.description.tags, tag) != context.description.tags.end();
}

/// Describes the fault of an output; empty: none.
std::string output_complaint(const TensorSpec& spec, const Tensor& tensor) {
  const auto fits = [](std::int64_t said, std::int64_t size) {
    return said == size || said == kUnboundDimension;
  };
  if (tensor.dtype == spec.dtype && std::ranges::equal(spec.shape, tensor.shape, fits)) {
    return "";
  }
  return fmt::format("output '{}' is {} {}, reported was {} {}", spec.name, name_of(tensor.dtype),
                     text_from_shape(tensor.shape), name_of(spec.dtype),
                     text_from_shape(spec.shape));
}

Result<Found> computes_what_it_reported(CheckContext& context) {
  ASSAY_ASSIGN_OR_RETURN(
      const auto talk, context.interviewer.ask({context.interviewer.load_frame(), infer_frame()}));
  const auto answer = talk.answer(1);
  if (!answer) {
    return failed(answer.error().message);
  }
  const auto tensors = tensors_from_safetensors(answer->blob);
  const auto outputs =
      tensors ? sample_from_tensors(*tensors, 0) : std::unexpected(tensors.error());
  if (!outputs) {
    return failed(outputs.error().message);
  }
  const auto& specs = context.report.outputs;
  if (outputs->size() != specs.size()) {
    return failed(fmt::format("{} outputs, reported were {}", outputs->size(), specs.size()));
  }
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (auto complaint = output_complaint(specs[i], (*outputs)[i]); !complaint.empty()) {
      return failed(std::move(complaint));
    }
  }
  return passed("outputs of the reported types and shapes");
}

bool is_bound(const TensorSpec& spec) {
  return std::ranges::find(spec.shape, kUnboundDimension) == spec.shape.end() &&
         check_size(spec).has_value();
}

std::vector<Tensor> random_inputs(const LoadReport& report, std::uint64_t seed) {
  std::vector<Tensor> inputs;
  inputs.reserve(report.inputs.size());
  for (const auto& spec : report.inputs) {
    inputs.push_back(random_tensor(spec, seed));
  }
  return inputs;
}

/// An inference of inputs that are not those of infer_frame(repeat); that one where none are known.
wire::Frame other_inference(const LoadReport& report) {
  constexpr std::uint64_t kOtherSeed = 17;
  if (!std::ranges::all_of(report.inputs, is_bound)) {
    return infer_frame();
  }
  return infer_frame(random_inputs(report, kOtherSeed));
}

Result<Found> computes_the_same_again(CheckContext& context) {
  if (has_tag(context, kNondeterministic)) {
    return skipped("it says that it is not deterministic");
  }
  const auto load = context.interviewer.load_frame();
  ASSAY_ASSIGN_OR_RETURN(const auto one, context.interviewer.ask({load, infer_frame(kRepeat)}));
  // Who answers with the outputs of the inference before gives others behind other inputs.
  ASSAY_ASSIGN_OR_RETURN(
      const auto other,
      context.interviewer.ask({load, other_inference(context.report), infer_frame(kRepeat)}));
  const auto first = one.answer(1);
  const auto second = other.answer(2);
  if (!first || !second) {
    return failed(first ? second.error().message : first.error().message);
  }
  ASSAY_ASSIGN_OR_RETURN(const auto reply, one.body<wire::InferReply>(1));
  const auto hint = fmt::format(" (if it cannot be helped, tag it {})", kNondeterministic);
  if (reply.differing_elements > 0) {
    return failed(fmt::format("{} elements differ between {} inferences of one process{}",
                              reply.differing_elements, kRepeat, hint));
  }
  return first->blob == second->blob
             ? passed(fmt::format("the same bits {} times, and behind other inputs in a second "
                                  "process",
                                  kRepeat))
             : failed("a second process gives different bits behind other inputs" + hint);
}

/// Inputs with one thing wrong, and what it is.
std::vector<std::pair<const char*, std::vector<Tensor>>> bad_inputs(const LoadReport& report) {
  const auto good = random_inputs(report, 1);
  auto more = good;
  more.push_back(good.front());
  auto shape = good;
  shape.front().shape.push_back(1);
  auto type = good;
  type.front() = Tensor::zeros(
      good.front().dtype == Dtype::kInt64 ? Dtype::kFloat32 : Dtype::kInt64, good.front().shape);
  std::vector<std::pair<const char*, std::vector<Tensor>>> bad = {
      {"one input too many", std::move(more)},
      {"an input of another rank", std::move(shape)},
      {"an input of another type", std::move(type)}};
  if (good.size() > 1) {  // With none left, the runner itself complains.
    bad.emplace_back("one input too few", std::vector(good.begin(), good.end() - 1));
  }
  return bad;
}

Result<Found> refuses_wrong_inputs(CheckContext& context) {
  if (context.report.inputs.empty() || !std::ranges::all_of(context.report.inputs, is_bound)) {
    return skipped("the program has no inputs, or some of unknown size: bind them by an option");
  }
  const auto bad = bad_inputs(context.report);
  std::vector questions{context.interviewer.load_frame()};
  for (const auto& [what, inputs] : bad) {
    questions.push_back(infer_frame(inputs));
  }
  questions.push_back(infer_frame(random_inputs(context.report, 1)));
  ASSAY_ASSIGN_OR_RETURN(const auto talk, context.interviewer.ask(questions));
  for (std::size_t i = 0; i < bad.size(); ++i) {
    const auto answer = talk.answer(i + 1);
    if (answer || answer.error().code != ErrorCode::kInvalidArgument) {
      return failed(
          fmt::format("{}: {}", bad[i].first, answer ? "it was computed" : answer.error().message));
    }
  }
  const auto good = talk.answer(bad.size() + 1);
  return good ? passed("too many, another rank, another type; then it computes")
              : failed("right inputs fail after wrong ones: " + good.error().message);
}

std::int64_t sum_of(const std::vector<std::int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

Result<Found> times_inferences(CheckContext& context) {
  const MeasurePlan plan{.warmup_iterations = 2, .iterations = kTimed};
  ASSAY_ASSIGN_OR_RETURN(const auto talk, context.interviewer.ask({context.interviewer.load_frame(),
                                                                   measure_frame(plan)}));
  const auto answer = talk.answer(1);
  if (!answer) {
    return failed(answer.error().message);
  }
  ASSAY_ASSIGN_OR_RETURN(const auto measurement, talk.body<Measurement>(1));
  ASSAY_ASSIGN_OR_RETURN(const auto samples, wire::samples_from_blob(answer->blob));
  const auto count = static_cast<std::size_t>(measurement.warmup_iterations) + std::size_t{kTimed};
  if (samples.execute_ns.size() != count) {
    return failed(fmt::format("{} samples of {}", samples.execute_ns.size(), count));
  }
  if (std::ranges::min(samples.execute_ns) <= 0) {
    return failed("an inference took no time: does execute compute to the end?");
  }
  const auto inside_ns =
      sum_of(samples.bind_ns) + sum_of(samples.execute_ns) + sum_of(samples.fetch_ns);
  return inside_ns <= measurement.inferences_ns
             ? passed(fmt::format("{} inferences, {:.1f} µs the shortest", count,
                                  static_cast<double>(std::ranges::min(samples.execute_ns)) / 1e3))
             : failed("the times of its steps add up to more than the time that passed");
}

Result<Found> profiles(CheckContext& context) {
  if (!has_tag(context, Profiler::kTag)) {
    return skipped("it has no profiler");
  }
  const auto profile =
      wire::frame_of(wire::MessageType::kProfile, 0,
                     wire::Observe{.inputs = {.is_generated = true}, .iterations = 5});
  ASSAY_ASSIGN_OR_RETURN(const auto talk,
                         context.interviewer.ask({context.interviewer.load_frame(), profile}));
  const auto report = talk.body<ProfileReport>(1);
  if (!report) {
    return failed(report.error().message);
  }
  if (report->events.empty() || report->method_median_ns <= 0) {
    return failed("it has no events, or no time of the whole inference");
  }
  return passed(
      fmt::format("{} events over {} inferences", report->events.size(), report->iterations));
}

constexpr std::array<Check, 5> kRunningChecks = {{
    {"computes_what_it_reported", computes_what_it_reported},
    {"computes_the_same_again", computes_the_same_again},
    {"refuses_wrong_inputs", refuses_wrong_inputs},
    {"times_inferences", times_inferences},
    {"profiles", profiles},
}};

}  // namespace

std::span<const Check> running_checks() { return kRunningChecks; }

}  // namespace assay
