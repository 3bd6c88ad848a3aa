#include "features/conform/result_reuse.h"

#include "features/conform/conform.h"
#include "features/conform/judgement_basis.h"
#include "features/conform/known_gaps.h"
#include "features/conform/plan.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/conformance.h"
#include "assay/record/metric.h"
#include "assay/record/run.h"
#include "assay/record/subject.h"
#include "assay/store/result_store.h"
#include "assay/store/stored_conformance.h"

namespace assay {
namespace {

/// Case key, engine with build, id of the build, id of the toolchain.
using Identity = std::tuple<std::string, std::string, std::string, std::string>;

Result<std::set<Identity>> identities_of(ResultStore& store, const std::string& run) {
  std::set<Identity> identities;
  std::map<std::string, Subject> subjects;
  ASSAY_ASSIGN_OR_RETURN(const auto attempts, store.attempts_of_run(run));
  for (const auto& attempt : attempts) {
    if (!attempt.is_finished || attempt.pass != Pass::kEvaluate) {
      continue;
    }
    if (!subjects.contains(attempt.subject)) {
      ASSAY_ASSIGN_OR_RETURN(subjects[attempt.subject], store.get_subject(attempt.subject));
    }
    const auto& subject = subjects[attempt.subject];
    identities.emplace(attempt.case_key, subject.engine_build, subject.engine_build_id,
                       subject.toolchain_id);
  }
  return identities;
}

bool is_within_bound(const ConformResult& result) {
  return !result.error_bound_ratio || double_from_metric(*result.error_bound_ratio) <= 1;
}

/// The passes of a report that no list has loosened, each with the run that it was judged in.
class EarlierPasses {
 public:
  EarlierPasses(ResultStore& store, const std::string& environment)
      : store_(store), environment_(environment) {}

  Status read(const std::string& reference) {
    ASSAY_ASSIGN_OR_RETURN(const auto run, store_.get_run(reference));
    ASSAY_ASSIGN_OR_RETURN(auto report, read_conform_report(store_, run));
    for (auto& result : report.results) {
      if (result.verdict != ConformVerdict::kPass || !is_within_bound(result)) {
        continue;
      }
      if (result.unchanged_since.empty()) {
        result.unchanged_since = run.id;
      }
      ASSAY_RETURN_IF_ERROR(read_identities(result.unchanged_since));
      passes_.emplace(std::pair(result.case_key, result.engine), std::move(result));
    }
    return {};
  }

  /// Null if there is none, or something that it depends on has changed.
  const ConformResult* find(const Identity& identity, const std::string& recipe,
                            const std::string& basis) const {
    const auto& [key, engine, build, toolchain] = identity;
    const auto found = passes_.find({key, engine});
    if (found == passes_.end()) {
      return nullptr;
    }
    const auto& of_run = identities_.at(found->second.unchanged_since);
    const auto& bases = bases_.at(found->second.unchanged_since);
    const auto before = bases.find(basis_key(recipe, engine));
    const bool is_judged_alike = before != bases.end() && before->second == basis;
    return is_judged_alike && of_run.contains(identity) ? &found->second : nullptr;
  }

 private:
  /// None if the run was on another machine.
  Status read_identities(const std::string& id) {
    if (identities_.contains(id)) {
      return {};
    }
    ASSAY_ASSIGN_OR_RETURN(const auto run, store_.get_run(id));
    bases_[id] = bases_of_run(run);
    auto& of_run = identities_[id];
    if (run.environment == environment_) {
      ASSAY_ASSIGN_OR_RETURN(of_run, identities_of(store_, id));
    }
    return {};
  }

  ResultStore& store_;
  const std::string& environment_;
  std::map<std::pair<std::string, std::string>, ConformResult> passes_;  ///< By key and engine.
  std::map<std::string, std::set<Identity>> identities_;                 ///< By run,
  std::map<std::string, JudgementBases> bases_;                          ///< as these are.
};

std::string build_id_of(const std::vector<EngineBuild>& builds, const std::string& reference) {
  const auto found = std::ranges::find(builds, reference, &EngineBuild::reference);
  return found == builds.end() ? "" : found->build_id;
}

}  // namespace

Result<std::map<std::size_t, ConformResult>> find_reusable_results(const ConformPlan& plan,
                                                                   const ConformRequest& request,
                                                                   const CampaignTools& tools) {
  std::map<std::size_t, ConformResult> unchanged;
  if (request.changed_since.empty()) {
    return unchanged;
  }
  EarlierPasses earlier(tools.store, request.context.environment.id);
  ASSAY_RETURN_IF_ERROR(earlier.read(request.changed_since));
  ASSAY_ASSIGN_OR_RETURN(const auto bases, bases_of(request));
  std::vector<Identity> identities;  // of the settings, without a case
  for (const auto& setting : plan.settings) {
    const auto& [recipe, engine] = std::tie(setting.pattern.recipe, setting.pattern.engine_build);
    ASSAY_ASSIGN_OR_RETURN(const auto toolchain, tools.toolchain_of(recipe.lowering));
    identities.emplace_back("", engine, build_id_of(request.context.builds, engine), toolchain.id);
  }
  for (std::size_t i = 0; i < plan.cells.size(); ++i) {
    const auto& [case_index, setting_index, eval_case] = plan.cells[i];
    const auto& setting = plan.settings[setting_index];
    auto& identity = identities[setting_index];
    std::get<0>(identity) = case_key(eval_case);
    const auto& recipe = setting.pattern.recipe.name;
    const auto* pass =
        earlier.find(identity, recipe, bases.at(basis_key(recipe, setting.pattern.engine_build)));
    const bool is_loosened =
        find_relaxed_bound(setting.gaps, setting.gap_context, plan.cases[case_index]).has_value();
    if (pass != nullptr && !is_loosened) {
      unchanged.emplace(i, *pass);
    }
  }
  return unchanged;
}

void drop_cells(const std::map<std::size_t, ConformResult>& unchanged, ConformPlan& plan) {
  for (auto& unit : plan.units) {
    std::erase_if(unit.cells, [&](std::size_t cell) { return unchanged.contains(cell); });
  }
  std::erase_if(plan.units, [](const ConformUnit& unit) { return unit.cells.empty(); });
}

}  // namespace assay
