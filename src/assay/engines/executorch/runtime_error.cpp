#include "assay/engines/executorch/runtime_error.h"

#include <cstdint>
#include <fmt/format.h>
#include <string>

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

}  // namespace

std::unexpected<Error> fail_with_runtime_error(std::string_view what, RuntimeError error) {
  std::string_view name = ::executorch::runtime::to_string(error);
  name.remove_prefix(std::min(name.size(), std::string_view("Error::").size()));
  const std::string log = take_error_log();
  return fail(code_from(error),
              fmt::format("{}: {} ({:#x}){}{}", what, name, static_cast<std::uint32_t>(error),
                          log.empty() ? "" : ": ", log));
}

Status status_from(std::string_view what, RuntimeError error) {
  if (error == RuntimeError::Ok) [[likely]] {
    return {};
  }
  return fail_with_runtime_error(what, error);
}

}  // namespace assay::et
