#include "features/conform/availability.h"

#include "features/conform/case_verdict.h"
#include "features/conform/conform.h"
#include "features/conform/plan.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/run_context.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/conformance.h"
#include "assay/record/model_inputs.h"
#include "assay/record/run.h"
#include "assay/store/result_store.h"

namespace assay {
namespace {

constexpr int kProbe = 3;  ///< Its try: cases of the suite, which may be the same, have 0 to 2.
constexpr int kSamples = 3;
constexpr auto kAnswers =
    std::to_array({ConformVerdict::kPass, ConformVerdict::kVacuous, ConformVerdict::kUnsupported,
                   ConformVerdict::kFailNumeric, ConformVerdict::kFailNondeterministic});

/// The finished attempt at a probe; absent if the run was stopped before.
Result<std::optional<Attempt>> attempt_at(ResultStore& store, const std::string& run,
                                          const Case& probe) {
  ASSAY_ASSIGN_OR_RETURN(const auto attempts, store.attempts_of_run(run));
  for (const auto& attempt : attempts) {
    if (!attempt.is_finished || attempt.n != kProbe || attempt.case_key != case_key(probe)) {
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(const auto subject, store.get_subject(attempt.subject));
    if (subject.engine_build == probe.engine_build) {
      return std::optional(attempt);
    }
  }
  return std::optional<Attempt>();
}

Result<std::string> reason_against(ResultStore& store, const std::string& run, const Case& probe) {
  ASSAY_ASSIGN_OR_RETURN(const auto attempt, attempt_at(store, run, probe));
  if (!attempt) {
    return std::string();
  }
  ASSAY_ASSIGN_OR_RETURN(const auto case_verdicts, read_case_verdicts(store, *attempt, 1));
  const auto& case_verdict = case_verdicts.front();
  if (std::ranges::find(kAnswers, case_verdict.verdict) != kAnswers.end()) {
    return std::string();
  }
  return fmt::format("the probe, a sum of two vectors, ends in {}: {}",
                     name_of(case_verdict.verdict), case_verdict.text);
}

}  // namespace

CampaignRequest evaluation_of(const RunContext& context, int n, const std::string& reference_kind,
                              std::vector<Case> cases) {
  CampaignRequest request{
      .context = context, .cases = std::move(cases), .finishes_run = false, .n = n};
  request.context.is_resumed = true;
  auto& settings = request.context.settings;
  settings.passes = {Pass::kEvaluate};
  settings.against = {reference_kind};
  settings.needs_float32 = false;
  return request;
}

Case probe_of(const ConformSetting& setting) {
  const Json vector = {{"shape", {2, 3}}, {"dtype", "float32"}};
  auto probe = setting.pattern;
  probe.model = {.ref = "aten:add.Tensor",
                 .args = {{"args", {vector, vector}}, {"kwargs", Json::object()}}};
  probe.inputs = {.generator = std::string(kModelInputs), .seed = 1, .count = kSamples};
  probe.calibration.generator = kModelInputs;
  return probe;
}

Result<std::vector<std::string>> probe_settings(const std::vector<ConformSetting>& settings,
                                                const RunContext& context,
                                                const CampaignTools& tools,
                                                const ExecuteCases& execute) {
  std::map<std::string, std::vector<Case>> probes;  // By kind of reference.
  for (const auto& setting : settings) {
    auto probe = probe_of(setting);
    probes[reference_kind_of(probe)].push_back(std::move(probe));
  }
  for (auto& [kind, cases] : probes) {
    const auto status = execute(evaluation_of(context, kProbe, kind, std::move(cases)), tools);
    if (!status && tools.listener.should_stop()) {
      break;
    }
    ASSAY_RETURN_IF_ERROR(status);
  }
  std::vector<std::string> reasons;
  for (const auto& setting : settings) {
    ASSAY_ASSIGN_OR_RETURN(auto reason,
                           reason_against(tools.store, context.run.id, probe_of(setting)));
    reasons.push_back(std::move(reason));
  }
  return reasons;
}

}  // namespace assay
