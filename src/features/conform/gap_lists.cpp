#include "features/conform/gap_lists.h"

#include "features/conform/known_gaps.h"
#include "features/conform/known_gaps_file.h"
#include "features/conform/plan.h"

#include <cstddef>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/case.h"
#include "assay/record/conformance.h"

namespace assay {

Result<std::vector<ConformSetting>> settings_from_cases(const std::vector<Case>& cases,
                                                        const std::filesystem::path& folder,
                                                        const GapContext& context) {
  std::vector<ConformSetting> settings;
  for (const auto& cell : cases) {
    ASSAY_ASSIGN_OR_RETURN(auto gaps, read_known_gaps(folder, cell.recipe.name));
    settings.push_back({.pattern = cell, .gaps = std::move(gaps), .gap_context = context});
  }
  return settings;
}

Result<std::map<std::string, std::size_t>> update_known_gaps(
    const std::vector<ConformSetting>& settings, const std::filesystem::path& folder,
    ConformReport& report) {
  std::map<std::string, std::size_t> counts;
  report.stale.clear();
  for (const auto& setting : settings) {
    const auto& recipe = setting.gaps.recipe;
    if (counts.contains(recipe)) {
      continue;
    }
    const auto updated = updated_gaps(setting.gaps, setting.gap_context, report.results);
    ASSAY_RETURN_IF_ERROR(write_known_gaps(folder, updated));
    apply_known_gaps(updated, setting.gap_context, report.results);
    counts[recipe] = updated.expected_failures.size();
  }
  return counts;
}

}  // namespace assay
