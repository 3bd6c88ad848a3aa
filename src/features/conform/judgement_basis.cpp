#include "features/conform/judgement_basis.h"

#include "features/conform/conform.h"
#include "features/conform/plan.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/digest.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/campaign/case_launch.h"
#include "assay/record/run.h"

namespace assay {

std::string basis_key(const std::string& recipe, const std::string& engine_build) {
  return recipe + " on " + engine_build;
}

Result<JudgementBases> bases_of(const ConformRequest& request) {
  JudgementBases bases;
  for (const auto& setting : request.settings) {
    const auto& cell = setting.pattern;
    std::vector<std::string> digests;
    for (const auto& library :
         libraries_of_engine(request.context.settings.libraries, cell.engine)) {
      ASSAY_ASSIGN_OR_RETURN(digests.emplace_back(), sha256_hex_of_file(library));
    }
    std::ranges::sort(digests);
    const Json tolerance = cell.recipe.tolerance.empty() ? Json() : cell.recipe.tolerance;
    bases[basis_key(cell.recipe.name, cell.engine_build)] =
        digest_of_json({{"libraries", digests}, {"tolerance", tolerance}});
  }
  return bases;
}

JudgementBases bases_of_run(const Run& run) {
  const auto found = run.spec.is_object() ? run.spec.find(kBasesKey) : run.spec.end();
  return found == run.spec.end() ? JudgementBases() : found->get<JudgementBases>();
}

}  // namespace assay
