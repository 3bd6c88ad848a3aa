#pragma once

#include <filesystem>
#include <string>

#include "assay/base/result.h"

namespace assay::report {

/// The script that draws charts (made by tools/make_vega_bundle.py), from the first of: `folder`,
/// $ASSAY_DATA_DIR, ../share/assay next to the executable; only the first that is given is asked.
/// About 0.9 MB. Errors: kNotFound, kUnavailable, kCorrupt when it could not stand inside a page.
Result<std::string> read_vega_bundle(const std::filesystem::path& folder);

}  // namespace assay::report
