#include "assay/engines/fake/fake_program.h"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/engines/fake/lies.h"
#include "assay/engines/fake/misbehavior.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/tensor.h"

namespace assay::fake {
namespace {

bool is_supported(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFloat16:
    case Dtype::kBFloat16:
      return false;
    default:
      return true;
  }
}

Status check_specs(const std::vector<TensorSpec>& specs) {
  for (const auto& spec : specs) {
    if (!is_supported(spec.dtype)) {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("the fake engine has no {}; it has float64, float32, bool and "
                              "integers",
                              name_of(spec.dtype)));
    }
    for (const auto size : spec.shape) {
      if (size < 0) {
        return fail(ErrorCode::kCorrupt, fmt::format("a dimension of '{}' is {}", spec.name, size));
      }
    }
    ASSAY_RETURN_IF_ERROR(check_size(spec));
  }
  return {};
}

Result<std::vector<OutputFault>> faults_from_json(const Json& json, std::size_t outputs) {
  std::vector<OutputFault> faults;
  for (const auto& entry : json) {
    OutputFault fault{.output = entry.at("output").get<std::size_t>()};
    ASSAY_ASSIGN_OR_RETURN(fault.fault, enum_from_name<Fault>(entry.value("do", "")));
    if (fault.output >= outputs) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("a fault is in output {} of {}", fault.output, outputs));
    }
    faults.push_back(fault);
  }
  return faults;
}

constexpr std::int64_t kMostBytes = 4LL << 30;

Result<FakeProgram> program_from_json(const Json& json) {
  FakeProgram program;
  program.inputs = json.value("inputs", program.inputs);
  program.outputs = json.value("outputs", program.outputs);
  program.load_ns = json.value("load_ns", program.load_ns);
  program.execute_ns = json.value("execute_ns", program.execute_ns);
  program.multiply_adds = json.value("multiply_adds", program.multiply_adds);
  program.stream_bytes = json.value("stream_bytes", program.stream_bytes);
  const Json warmup = json.value("warmup", Json::object());
  program.warmup_executes = warmup.value("executes", program.warmup_executes);
  program.warmup_ratio = warmup.value("ratio", program.warmup_ratio);
  program.helpers = json.value("helpers", program.helpers);
  program.helper_ns = json.value("helper_ns", program.helper_ns);
  const Json output = json.value("output", Json::object());
  ASSAY_ASSIGN_OR_RETURN(program.rule, enum_from_name<Rule>(output.value("rule", "affine")));
  program.a = output.value("a", program.a);
  program.b = output.value("b", program.b);
  program.wrong = json.value("wrong", program.wrong);
  ASSAY_ASSIGN_OR_RETURN(program.faults, faults_from_json(json.value("faults", Json::array()),
                                                          program.outputs.size()));
  program.leak_bytes = json.value("leak_bytes", program.leak_bytes);
  program.leak_load_bytes = json.value("leak_load_bytes", program.leak_load_bytes);
  program.delegates = json.value("delegates", program.delegates);
  program.declared_memory = json.value("declared_memory", program.declared_memory);
  program.emulator = json.value("emulator", program.emulator);
  ASSAY_ASSIGN_OR_RETURN(program.misbehavior,
                         misbehavior_from_json(json.value("misbehave", Json::object())));
  ASSAY_ASSIGN_OR_RETURN(program.lies, lies_from_json(json.value("lies", Json::array())));
  if (program.multiply_adds < 0 || program.stream_bytes < 0 || program.stream_bytes > kMostBytes) {
    return fail(ErrorCode::kCorrupt,
                "\"multiply_adds\" and \"stream_bytes\" are 0 or more, the latter up to 4 GiB");
  }
  if (program.warmup_executes < 0 || program.warmup_ratio < 0) {
    return fail(ErrorCode::kCorrupt, "\"executes\" and \"ratio\" of \"warmup\" are 0 or more");
  }
  constexpr int kMostHelpers = 64;
  if (program.helpers < 0 || program.helpers > kMostHelpers || program.helper_ns < 0) {
    return fail(ErrorCode::kCorrupt, "\"helpers\" is 0 to 64, and \"helper_ns\" 0 or more");
  }
  ASSAY_RETURN_IF_ERROR(check_specs(program.inputs));
  ASSAY_RETURN_IF_ERROR(check_specs(program.outputs));
  return program;
}

/// A program that does not read well is a damaged file, not a wrong request.
Error as_corrupt(Error error, const std::filesystem::path& path) {
  if (error.code == ErrorCode::kInvalidArgument) {
    error.code = ErrorCode::kCorrupt;
    error.message = path.string() + ": " + error.message;
  }
  return error;
}

}  // namespace

Result<FakeProgram> read_fake_program(const std::filesystem::path& path) {
  try {
    auto json = read_json_file(path);
    if (!json) {
      return std::unexpected(as_corrupt(std::move(json).error(), path));
    }
    auto program = program_from_json(*json);
    if (!program) {
      return std::unexpected(as_corrupt(std::move(program).error(), path));
    }
    return program;
  } catch (const std::exception& error) {
    return fail(ErrorCode::kCorrupt, fmt::format("{}: {}", path.string(), error.what()));
  }
}

}  // namespace assay::fake
