#include "assay/engines/executorch/runtime_error.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/engines/executorch/runtime_log.h"

namespace assay::et {
namespace {

using RuntimeError = ::executorch::runtime::Error;

ErrorCode code_from(RuntimeError error) {
  switch (error) {
    case RuntimeError::InvalidArgument:
    case RuntimeError::InvalidType:
      return ErrorCode::kInvalidArgument;
    case RuntimeError::NotSupported:
    case RuntimeError::NotImplemented:
      return ErrorCode::kUnsupported;
    case RuntimeError::OperatorMissing:
      return ErrorCode::kUnavailable;
    case RuntimeError::NotFound:
      return ErrorCode::kNotFound;
    case RuntimeError::MemoryAllocationFailed:
    case RuntimeError::OutOfResources:
    case RuntimeError::DelegateMemoryAllocationFailed:
      return ErrorCode::kExhausted;
    case RuntimeError::InvalidProgram:
    case RuntimeError::InvalidExternalData:
      return ErrorCode::kCorrupt;
    default:
      return ErrorCode::kEngine;
  }
}

/// "aten::foo.out" of "Missing operator: [3] aten::foo.out"; empty for other lines.
std::string_view missing_operator_in(std::string_view line) {
  constexpr std::string_view kBegin = "Missing operator: [";
  const auto end_of_index = line.find("] ");
  return line.starts_with(kBegin) && end_of_index != std::string_view::npos
             ? line.substr(end_of_index + 2)
             : std::string_view{};
}

/// Log of the runtime for the end of a message: the missing operators by name, or the last
/// lines.
std::string text_of_log(const std::vector<std::string>& lines) {
  constexpr std::size_t kMostReportedLines = 6;
  std::vector<std::string_view> missing;
  for (const std::string_view line : lines) {
    const auto name = missing_operator_in(line);
    if (!name.empty() && std::ranges::find(missing, name) == missing.end()) {
      missing.push_back(name);
    }
  }
  if (!missing.empty()) {
    return fmt::format(
        ": no kernel is registered for {}; give a library that registers it, or "
        "lower the model so that it is not needed",
        fmt::join(missing, ", "));
  }
  const std::size_t first =
      lines.size() > kMostReportedLines ? lines.size() - kMostReportedLines : 0;
  const auto last = std::span(lines).subspan(first);
  return last.empty() ? "" : fmt::format(": {}", fmt::join(last, "; "));
}

}  // namespace

std::unexpected<Error> fail_with_runtime_error(std::string_view what, RuntimeError error) {
  std::string_view name = ::executorch::runtime::to_string(error);
  name.remove_prefix(std::min(name.size(), std::string_view("Error::").size()));
  const auto engine_code = fmt::format("{:#x}", static_cast<std::uint32_t>(error));
  auto failure = fail(code_from(error), fmt::format("{}: {} ({}){}", what, name, engine_code,
                                                    text_of_log(take_error_log())));
  failure.error().engine_code = engine_code;
  return failure;
}

Status status_from(std::string_view what, RuntimeError error) {
  if (error == RuntimeError::Ok) [[likely]] {
    return {};
  }
  return fail_with_runtime_error(what, error);
}

}  // namespace assay::et
