#pragma once

#include <optional>
#include <span>
#include <string>

#include "assay/base/result.h"

namespace assay {

/// The share of the files' pages that are in the system's page cache, 0 to 1; nullopt if the
/// system does not tell (files of others, see mincore(2)), or when there is not one page.
std::optional<double> cached_ratio_of(std::span<const std::string> files);

/// Writes the files back and drops them from the page cache. The system keeps pages that another
/// process maps: look at cached_ratio_of. Errors: kNotFound, kUnavailable.
Status drop_from_page_cache(std::span<const std::string> files);

/// Reads the files once, whole. Errors: kNotFound, kUnavailable.
Status read_into_page_cache(std::span<const std::string> files);

}  // namespace assay
