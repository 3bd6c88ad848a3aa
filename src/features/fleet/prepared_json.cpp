#include "features/fleet/prepared_json.h"

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/enum_names.h"  // IWYU pragma: keep: JSON of optional values
#include "assay/base/json.h"
#include "assay/campaign/preparation.h"
#include "assay/campaign/run_context.h"
#include "assay/campaign/stopping.h"
#include "assay/record/artifact_role.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/conclusion.h"
#include "assay/record/launch.h"
#include "assay/record/run.h"
#include "assay/record/sandbox.h"
#include "assay/record/subject.h"

namespace assay {
namespace {

Json json_from_launch_plan(const LaunchPlan& plan) {
  return {{"least", plan.least},
          {"most", plan.most},
          {"interval_ratio", plan.interval_ratio},
          {"budget_ns", plan.budget_ns},
          {"adapts_iterations", plan.adapts_iterations}};
}

LaunchPlan launch_plan_from_json(const Json& document) {
  return {.least = document.at("least").get<int>(),
          .most = document.at("most").get<int>(),
          .interval_ratio = document.at("interval_ratio").get<double>(),
          .budget_ns = document.at("budget_ns").get<std::int64_t>(),
          .adapts_iterations = document.at("adapts_iterations").get<bool>()};
}

Json json_from_conclusion(const Conclusion& conclusion) {
  return {{"outcome", conclusion.outcome},
          {"stage", conclusion.stage},
          {"reason_code", conclusion.reason_code},
          {"text", conclusion.text}};
}

Conclusion conclusion_from_json(const Json& document) {
  return {.outcome = document.at("outcome").get<Outcome>(),
          .stage = document.at("stage").get<Stage>(),
          .reason_code = document.at("reason_code").get<std::string>(),
          .text = document.at("text").get<std::string>()};
}

/// Leaves out the files that the program names: those of the worker's host count there.
Json json_of_artifact(Artifact artifact) {
  std::erase_if(artifact.files, [](const ArtifactFile& file) { return file.role == kNamedRole; });
  return artifact;
}

Json json_from_missing(const std::map<std::string, Conclusion>& missing) {
  Json document = Json::object();
  for (const auto& [kind, why] : missing) {
    document[kind] = json_from_conclusion(why);
  }
  return document;
}

}  // namespace

Json json_from_settings(const CampaignSettings& settings) {
  return {{"plan", settings.plan},
          {"launches", json_from_launch_plan(settings.launches)},
          {"profile_iterations", settings.profile_iterations},
          {"leak_loads", settings.leak_loads},
          {"leak_inferences", settings.leak_inferences},
          {"passes", settings.passes},
          {"against", settings.against},
          {"has_parity", settings.has_parity},
          {"needs_float32", settings.needs_float32},
          {"tolerance", settings.tolerance},
          {"launch_timeout_ns", settings.launch_timeout_ns},
          {"memory_limit_bytes", settings.memory_limit_bytes},
          {"sensors_period_ns", settings.sensors_period_ns},
          {"sandbox", settings.sandbox}};
}

CampaignSettings settings_from_json(const Json& document) {
  CampaignSettings settings{
      .plan = document.at("plan").get<MeasurePlan>(),
      .launches = launch_plan_from_json(document.at("launches")),
      .profile_iterations = document.at("profile_iterations").get<int>(),
      .leak_loads = document.at("leak_loads").get<int>(),
      .leak_inferences = document.at("leak_inferences").get<int>(),
      .passes = document.at("passes").get<std::vector<Pass>>(),
      .against = document.at("against").get<std::vector<std::string>>(),
      .has_parity = document.at("has_parity").get<bool>(),
      .needs_float32 = document.at("needs_float32").get<bool>(),
      .tolerance = document.at("tolerance"),
      .launch_timeout_ns = document.at("launch_timeout_ns").get<std::int64_t>(),
      .memory_limit_bytes = document.at("memory_limit_bytes").get<std::int64_t>()};
  if (const auto& period = document.at("sensors_period_ns"); !period.is_null()) {
    settings.sensors_period_ns = period.get<std::int64_t>();
  }
  if (const auto& sandbox = document.at("sandbox"); !sandbox.is_null()) {
    settings.sandbox = sandbox.get<SandboxMode>();
  }
  return settings;
}

Json json_from_prepared(const PreparedCase& prepared) {
  return {{"case", prepared.cell},
          {"toolchain_id", prepared.subject.toolchain_id},
          {"artifact", prepared.artifact ? json_of_artifact(*prepared.artifact) : Json(nullptr)},
          {"failure", json_from_conclusion(prepared.failure)},
          {"references", prepared.references},
          {"missing_references", json_from_missing(prepared.missing_references)},
          {"pieces", prepared.pieces ? json_from_prepared(*prepared.pieces) : Json(nullptr)}};
}

PreparedCase prepared_from_json(const Json& document) {
  PreparedCase prepared{.cell = document.at("case").get<Case>()};
  prepared.key = case_key(prepared.cell);
  prepared.subject.toolchain_id = document.at("toolchain_id").get<std::string>();
  if (const auto& artifact = document.at("artifact"); !artifact.is_null()) {
    prepared.artifact = artifact.get<Artifact>();
  }
  prepared.failure = conclusion_from_json(document.at("failure"));
  prepared.references = document.at("references").get<std::map<std::string, Reference>>();
  for (const auto& [kind, why] : document.at("missing_references").items()) {
    prepared.missing_references[kind] = conclusion_from_json(why);
  }
  if (const auto& pieces = document.at("pieces"); !pieces.is_null()) {
    prepared.pieces = std::make_shared<const PreparedCase>(prepared_from_json(pieces));
  }
  return prepared;
}

}  // namespace assay
