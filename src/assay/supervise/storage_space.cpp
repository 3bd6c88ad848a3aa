#include "assay/supervise/storage_space.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <string_view>
#include <system_error>

#include "assay/base/limits.h"
#include "assay/base/result.h"

namespace assay {

Result<std::int64_t> free_bytes_below(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const auto space = std::filesystem::space(folder, error);
  if (error) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("cannot use the folder '{}': {}; set ASSAY_AGENT_HOME to one that can "
                            "be written",
                            folder.string(), error.message()));
  }
  return static_cast<std::int64_t>(space.available);
}

Result<std::int64_t> usable_bytes_below(const std::filesystem::path& folder) {
  constexpr std::int64_t kMostReservedBytes = std::int64_t{256} << 20;
  constexpr std::int64_t kShare = 20;
  ASSAY_ASSIGN_OR_RETURN(const auto free_bytes, free_bytes_below(folder));
  std::error_code error;
  const auto space = std::filesystem::space(folder, error);
  const auto size_bytes = error ? 0 : static_cast<std::int64_t>(space.capacity);
  return std::max<std::int64_t>(free_bytes - std::min(size_bytes / kShare, kMostReservedBytes), 0);
}

std::unexpected<Error> failure_to_store(int cause, std::string_view what, std::int64_t needed_bytes,
                                        const std::filesystem::path& folder) {
  if (cause != ENOSPC && cause != EDQUOT && cause != EFBIG) {
    return fail(code_from_errno(cause), fmt::format("cannot write {} in '{}': {}", what,
                                                    folder.string(), text_from_errno(cause)));
  }
  return fail(
      ErrorCode::kExhausted,
      fmt::format("no space for {} in '{}': {} bytes are needed and {} are free, besides what "
                  "stays for other programs; free some space on the device, or run assay device "
                  "release",
                  what, folder.string(), needed_bytes, usable_bytes_below(folder).value_or(0)));
}

}  // namespace assay
