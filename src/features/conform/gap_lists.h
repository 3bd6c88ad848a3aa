#pragma once

#include "features/conform/known_gaps.h"
#include "features/conform/plan.h"

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/case.h"
#include "assay/record/conformance.h"

namespace assay {

/// A setting for each case, with the list of its recipe from the folder. Errors: kCorrupt (a list).
Result<std::vector<ConformSetting>> settings_from_cases(const std::vector<Case>& cases,
                                                        const std::filesystem::path& folder,
                                                        const GapContext& context);

/// Writes the lists of the settings anew from the results and applies them to the report, which has
/// no stale entries then. Returns how many failures each list has, by recipe.
/// Errors: kUnavailable, kExhausted (a list that cannot be written).
Result<std::map<std::string, std::size_t>> update_known_gaps(
    const std::vector<ConformSetting>& settings, const std::filesystem::path& folder,
    ConformReport& report);

}  // namespace assay
