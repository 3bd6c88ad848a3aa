#pragma once

#include <filesystem>

#include "assay/base/result.h"

namespace assay {

/// Removes what an earlier commit had at a path of a working folder, and left there. Does nothing
/// where the way now leads through a link: something else lies there, perhaps outside. Errors:
/// kUnavailable.
Status remove_former_place(const std::filesystem::path& folder, const std::filesystem::path& path);

}  // namespace assay
