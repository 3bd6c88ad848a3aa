#pragma once

#include <filesystem>
#include <string>

namespace assay {

/// The line in the last 64 KiB of a build's log that says most about why it failed: the first with
/// "error" in it, or else the last that is not empty. One printable line of at most 160 bytes and
/// an ellipsis, without `folder`, so that it is equal for builds in different folders. Empty: the
/// log cannot be read, or says nothing.
std::string fault_in_log(const std::filesystem::path& log, const std::filesystem::path& folder);

}  // namespace assay
