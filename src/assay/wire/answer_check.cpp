#include "assay/wire/answer_check.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/result.h"
#include "assay/base/units.h"
#include "assay/record/launch.h"
#include "assay/tensor/safetensors.h"
#include "assay/tensor/tensor.h"
#include "assay/wire/claim.h"
#include "assay/wire/clock_slack.h"
#include "assay/wire/frame.h"
#include "assay/wire/messages.h"

namespace assay::wire {
namespace {

constexpr std::int64_t kMostRank = 64;
constexpr std::int64_t kMostDimension = std::int64_t{1} << 48;

Status check_quantization(const Quantization& quantization, const std::string& field) {
  if (quantization.scales.size() != quantization.zero_points.size()) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("{} has {} scales and {} zero points", field,
                            quantization.scales.size(), quantization.zero_points.size()));
  }
  for (const double scale : quantization.scales) {
    if (!std::isfinite(scale)) {
      return fail(ErrorCode::kCorrupt, fmt::format("{} has the scale {}", field, scale));
    }
  }
  return expect_between(field + ".axis", quantization.axis, -1, kMostRank);
}

Status check_specs(std::string_view list, const std::vector<TensorSpec>& specs) {
  ASSAY_RETURN_IF_ERROR(expect_count(list, specs.size()));
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const auto& spec = specs[i];
    ASSAY_RETURN_IF_ERROR(expect_text(field_in_list(list, i, "name"), spec.name));
    const auto rank = static_cast<std::int64_t>(spec.shape.size());
    ASSAY_RETURN_IF_ERROR(expect_between(field_in_list(list, i, "rank"), rank, 0, kMostRank));
    for (const auto size : spec.shape) {
      ASSAY_RETURN_IF_ERROR(
          expect_between(field_in_list(list, i, "shape"), size, kUnboundDimension, kMostDimension));
    }
    if (spec.quantization) {
      ASSAY_RETURN_IF_ERROR(
          check_quantization(*spec.quantization, field_in_list(list, i, "quantization")));
    }
  }
  return {};
}

Status check_texts(std::string_view list, const std::vector<std::string>& texts) {
  ASSAY_RETURN_IF_ERROR(expect_count(list, texts.size()));
  for (const auto& text : texts) {
    ASSAY_RETURN_IF_ERROR(expect_text(list, text));
  }
  return {};
}

Status check_stage_times(const std::vector<StageTime>& stages, std::int64_t wall_ns) {
  ASSAY_RETURN_IF_ERROR(expect_count("stages", stages.size()));
  auto left_ns = wall_ns + clock_slack_ns(wall_ns, 0, 0);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    ASSAY_RETURN_IF_ERROR(expect_text(field_in_list("stages", i, "name"), stages[i].name));
    const auto field = field_in_list("stages", i, "ns");
    ASSAY_RETURN_IF_ERROR(expect_not_negative(field, stages[i].ns));
    if (stages[i].ns > left_ns) {
      return fail(
          ErrorCode::kCorrupt,
          fmt::format("{} is {} ns: the stages up to it take longer than the {} for which "
                      "the process lived",
                      field, stages[i].ns, text_from_duration_ns(static_cast<double>(wall_ns))));
    }
    left_ns -= stages[i].ns;
  }
  return {};
}

/// The names that a blob of outputs must have, and no others.
Status check_output_names(const std::vector<NamedTensor>& tensors, int samples,
                          std::size_t outputs) {
  std::set<std::string> names;
  for (const auto& tensor : tensors) {
    names.insert(tensor.name);
  }
  for (int sample = 0; sample < samples; ++sample) {
    for (std::size_t output = 0; output < outputs; ++output) {
      if (const auto name = fmt::format("{}.{}", sample, output); names.erase(name) == 0) {
        return fail(ErrorCode::kCorrupt,
                    fmt::format("the outputs have {} tensors and no '{}'; {} outputs of each of "
                                "{} samples are expected",
                                tensors.size(), name, outputs, samples));
      }
    }
  }
  return names.empty()
             ? Status()
             : fail(ErrorCode::kCorrupt,
                    fmt::format("the outputs contain '{}', which was not requested: the program "
                                "reports {} outputs, and {} samples were requested",
                                *names.begin(), outputs, samples));
}

}  // namespace

Status check_answers(std::span<const Frame> answers, std::span<const Frame> requests) {
  std::set<std::uint32_t> answered;
  for (const auto& answer : answers) {
    if (answer.type == MessageType::kStage || answer.type == MessageType::kLog) {
      continue;
    }
    const auto asked = std::ranges::find(requests, answer.request, &Frame::request);
    if (asked == requests.end()) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("there is an answer of type {} to request {}, which was never sent",
                              static_cast<int>(answer.type), answer.request));
    }
    if (answer.type != asked->type && answer.type != MessageType::kError) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("the answer to {} is of type {}, not {}", name_of(asked->type),
                              static_cast<int>(answer.type), static_cast<int>(asked->type)));
    }
    if (!answered.insert(answer.request).second) {
      return fail(ErrorCode::kCorrupt, fmt::format("{} was answered twice", name_of(asked->type)));
    }
  }
  for (const auto& request : requests) {
    if (!answered.contains(request.request)) {
      return fail(ErrorCode::kCorrupt, fmt::format("{} was not answered", name_of(request.type)));
    }
  }
  return {};
}

Status check_hello(const Hello& hello) {
  ASSAY_RETURN_IF_ERROR(agree_on_version(hello));
  ASSAY_RETURN_IF_ERROR(expect_text("program", hello.program));
  ASSAY_RETURN_IF_ERROR(expect_text("engine", hello.engine));
  ASSAY_RETURN_IF_ERROR(expect_text("version", hello.version));
  ASSAY_RETURN_IF_ERROR(expect_text("build_id", hello.build_id));
  ASSAY_RETURN_IF_ERROR(expect_text("target", hello.target));
  return expect_not_negative("clock_resolution_ns", hello.clock_resolution_ns);
}

Status check_declared_memory(std::string_view list, const std::vector<NamedBytes>& declared) {
  ASSAY_RETURN_IF_ERROR(expect_count(list, declared.size()));
  for (std::size_t i = 0; i < declared.size(); ++i) {
    ASSAY_RETURN_IF_ERROR(expect_text(field_in_list(list, i, "name"), declared[i].name));
    ASSAY_RETURN_IF_ERROR(expect_not_negative(field_in_list(list, i, "bytes"), declared[i].bytes));
  }
  return {};
}

Status check_load_report(const LoadReport& report, std::int64_t wall_ns) {
  if (!report.effective_options.is_object()) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("effective_options is of the type {}; it is an object of options",
                            report.effective_options.type_name()));
  }
  ASSAY_RETURN_IF_ERROR(check_stage_times(report.stages, wall_ns));
  ASSAY_RETURN_IF_ERROR(check_specs("inputs", report.inputs));
  ASSAY_RETURN_IF_ERROR(check_specs("outputs", report.outputs));
  ASSAY_RETURN_IF_ERROR(check_declared_memory("declared_memory", report.declared_memory));
  ASSAY_RETURN_IF_ERROR(check_texts("backends", report.backends));
  return check_texts("notes", report.notes);
}

Status check_infer_reply(const InferReply& reply, const Infer& asked, std::size_t outputs,
                         std::span<const std::byte> blob) {
  ASSAY_RETURN_IF_ERROR(expect_equal("samples", reply.samples, asked.inputs.samples));
  ASSAY_RETURN_IF_ERROR(expect_equal("repeat", reply.repeat, asked.repeat));
  ASSAY_ASSIGN_OR_RETURN(const auto tensors, tensors_from_safetensors(blob));
  ASSAY_RETURN_IF_ERROR(check_output_names(tensors, reply.samples, outputs));
  return expect_not_negative("differing_elements", reply.differing_elements);
}

std::int64_t load_ns_from_report(const LoadReport& report) {
  std::int64_t sum = 0;
  for (const auto& stage : report.stages) {
    sum += stage.ns;
  }
  return sum;
}

}  // namespace assay::wire
