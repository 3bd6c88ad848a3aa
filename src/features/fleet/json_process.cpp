#include "features/fleet/json_process.h"

#include <chrono>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/error_code_names.h"  // IWYU pragma: keep
#include "assay/base/json.h"
#include "assay/base/python_command.h"
#include "assay/base/result.h"
#include "assay/base/subprocess.h"

namespace assay {
namespace {

std::unexpected<Error> error_from_answer(const Json& error) {
  const auto code = error.is_object() ? error.value("code", "") : "";
  const auto message = error.is_object() ? error.value("message", error.dump()) : error.dump();
  return fail(find_enum<ErrorCode>(code).value_or(ErrorCode::kInternal), message);
}

}  // namespace

Result<JsonProcess> JsonProcess::start(const std::filesystem::path& python, std::string module,
                                       const std::vector<std::string>& arguments) {
  ASSAY_ASSIGN_OR_RETURN(auto process,
                         Subprocess::start({.argv = python_module_argv(python, module, arguments),
                                            .env = python_environment()}));
  return JsonProcess(std::move(module), std::move(process));
}

Result<Json> JsonProcess::ask(const Json& request, std::chrono::milliseconds timeout) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + timeout;
  ASSAY_RETURN_IF_ERROR(process_.write(request.dump() + "\n"));
  ASSAY_ASSIGN_OR_RETURN(const auto line, process_.read_line(timeout));
  if (!line && process_.is_at_end()) {
    return fail(ErrorCode::kCrashed, fmt::format("{} ended; what it said is above", module_));
  }
  if (!line && Clock::now() < until) {  // A signal to this process.
    return fail(ErrorCode::kTimeout, fmt::format("interrupted before {} answered", module_));
  }
  if (!line) {
    return fail(ErrorCode::kTimeout,
                fmt::format("{} did not answer within {} s", module_, timeout.count() / 1000));
  }
  ASSAY_ASSIGN_OR_RETURN(auto answer, parse_json(*line, module_, JsonComments::kRefused));
  if (!answer.is_object()) {
    return fail(ErrorCode::kCorrupt, fmt::format("{} answered {}", module_, answer.dump()));
  }
  return answer.contains("error") ? Result<Json>(error_from_answer(answer.at("error"))) : answer;
}

}  // namespace assay
