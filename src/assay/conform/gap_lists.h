#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/conform/plan.h"
#include "assay/record/case.h"
#include "assay/record/conformance.h"

namespace assay {

/// Properties of a run that decide how its lists of known gaps are read.
struct GapRules {
  bool is_delegation_required = false;
  bool is_narrowed = false;  ///< The run has not all cases, so nothing is struck off the lists.
  std::vector<std::string> processor_flags;
};

/// A setting for each case, with the list of its recipe from the folder. Errors: kCorrupt (a list).
Result<std::vector<ConformSetting>> settings_from_cases(const std::vector<Case>& cases,
                                                        const std::filesystem::path& folder,
                                                        const GapRules& rules);

/// Writes the lists of the settings anew from the results and applies them to the report, which has
/// no stale entries then. Returns how many failures each list has, by recipe.
/// Errors: kUnavailable, kExhausted (a list that cannot be written).
Result<std::map<std::string, std::size_t>> update_known_gaps(
    const std::vector<ConformSetting>& settings, const std::filesystem::path& folder,
    ConformReport& report);

}  // namespace assay
