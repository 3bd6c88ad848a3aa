#pragma once

#include <cstdint>
#include <expected>
#include <filesystem>
#include <string_view>

#include "assay/base/result.h"

namespace assay {

/// Bytes that may still be written below a folder, which is made if it is absent. Errors:
/// kUnavailable.
Result<std::int64_t> free_bytes_below(const std::filesystem::path& folder);

/// Those without what stays for other programs of the device: a twentieth of the file system, and
/// 256 MiB at most.
Result<std::int64_t> usable_bytes_below(const std::filesystem::path& folder);

/// The failure to write `needed_bytes` below `folder` for `cause`, an errno: kExhausted with the
/// needed and the free bytes where there is no space, else that of code_from_errno().
std::unexpected<Error> failure_to_store(int cause, std::string_view what, std::int64_t needed_bytes,
                                        const std::filesystem::path& folder);

}  // namespace assay
