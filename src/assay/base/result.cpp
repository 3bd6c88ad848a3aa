#include "assay/base/result.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fmt/core.h>

namespace assay {
namespace {

constexpr std::array<std::pair<ErrorCode, std::string_view>, 10> kNames = {{
    {ErrorCode::kInvalidArgument, "invalid_argument"},
    {ErrorCode::kNotFound, "not_found"},
    {ErrorCode::kUnsupported, "unsupported"},
    {ErrorCode::kUnavailable, "unavailable"},
    {ErrorCode::kTimeout, "timeout"},
    {ErrorCode::kCrashed, "crashed"},
    {ErrorCode::kCorrupt, "corrupt"},
    {ErrorCode::kExhausted, "exhausted"},
    {ErrorCode::kEngine, "engine"},
    {ErrorCode::kInternal, "internal"},
}};

}  // namespace

std::string_view name_from_error_code(ErrorCode code) {
  return std::ranges::find(kNames, code, &decltype(kNames)::value_type::first)->second;
}

ErrorCode error_code_from_name(std::string_view name) {
  const auto* found = std::ranges::find(kNames, name, &decltype(kNames)::value_type::second);
  return found == kNames.end() ? ErrorCode::kInternal : found->first;
}

void abort_on_failed_check(std::string_view what, std::source_location where) {
  fmt::print(stderr, "{}:{}: check failed: {}\nThis is a bug of Assay.\n", where.file_name(),
             where.line(), what);
  std::abort();
}

}  // namespace assay
