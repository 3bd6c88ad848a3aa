#include "assay/supervise/storage_space.h"

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

std::unexpected<Error> failure_to_store(int cause, std::string_view what, std::int64_t needed_bytes,
                                        const std::filesystem::path& folder) {
  if (cause != ENOSPC && cause != EDQUOT && cause != EFBIG) {
    return fail(code_from_errno(cause), fmt::format("cannot write {} in '{}': {}", what,
                                                    folder.string(), text_from_errno(cause)));
  }
  return fail(
      ErrorCode::kExhausted,
      fmt::format("no space for {} in '{}': {} bytes are needed and {} are free; prune the "
                  "agent's files, or free some space on the device",
                  what, folder.string(), needed_bytes, free_bytes_below(folder).value_or(0)));
}

}  // namespace assay
