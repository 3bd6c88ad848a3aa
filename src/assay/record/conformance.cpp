#include "assay/record/conformance.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"

namespace assay {

bool is_failure(ConformVerdict verdict) {
  return verdict != ConformVerdict::kPass && verdict != ConformVerdict::kNotRun;
}

bool is_fault_of_backend(ConformVerdict verdict) {
  return is_failure(verdict) && verdict != ConformVerdict::kUnsupported &&
         verdict != ConformVerdict::kVacuous && verdict != ConformVerdict::kHarnessError;
}

std::map<ConformVerdict, int> count_verdicts(const ConformReport& report, std::string_view recipe) {
  std::map<ConformVerdict, int> counts;
  for (const auto& result : report.results) {
    if (recipe.empty() || result.recipe == recipe) {
      ++counts[result.verdict];
    }
  }
  return counts;
}

std::vector<std::string> recipes_of(const ConformReport& report) {
  std::vector<std::string> recipes;
  for (const auto& result : report.results) {
    if (std::ranges::find(recipes, result.recipe) == recipes.end()) {
      recipes.push_back(result.recipe);
    }
  }
  return recipes;
}

ASSAY_DEFINE_JSON(ConformResult, name, operator_name, dtype, shape_class, values, recipe, engine,
                  options, case_key, verdict, stage, reason_code, text, delegation, nodes_delegated,
                  nodes_not_delegated, operators_left, error_bound_ratio, is_joint, was_in_joint,
                  alone, known, known_reason, issue, command, last_words, unchanged_since)
ASSAY_DEFINE_JSON(OperatorCoverage, operator_name, cases, reason)
ASSAY_DEFINE_JSON(ConformStage, name, seconds, steps)
ASSAY_DEFINE_JSON(ConformChange, name, recipe, options, before, after)
ASSAY_DEFINE_JSON(StaleGap, recipe, entry, why)
ASSAY_DEFINE_JSON(ConformReport, run, environment, suite, tier, shard, results, coverage, stages,
                  joint_programs, alone_programs, seconds, earlier_run, results_compared,
                  results_only_now, results_only_earlier, changes, stale, notes)

}  // namespace assay
