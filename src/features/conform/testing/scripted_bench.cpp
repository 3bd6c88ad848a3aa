#include "features/conform/testing/scripted_bench.h"

#include "features/conform/conform.h"
#include "features/conform/known_gaps.h"
#include "features/conform/plan.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "assay/artifact/toolchain.h"
#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/uuid.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/listener.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/conformance.h"
#include "assay/record/metric.h"
#include "assay/record/run.h"
#include "assay/record/subject.h"
#include "assay/record/summary.h"
#include "assay/store/result_store.h"

namespace assay {
namespace {

bool spoils_program(ConformVerdict verdict) {
  return verdict != ConformVerdict::kPass && verdict != ConformVerdict::kVacuous &&
         verdict != ConformVerdict::kFailNumeric;
}

Outcome outcome_of(ConformVerdict verdict) {
  return find_enum<Outcome>(name_of(verdict)).value_or(Outcome::kCompleted);
}

AccuracyTable table_of(ConformVerdict verdict) {
  AccuracyTable table{
      .against = "float64",
      .accuracy = find_enum<Accuracy>(name_of(verdict)).value_or(Accuracy::kNotChecked),
      .reason = "as told"};
  table.outputs.push_back(
      {.output = "0", .metrics = {{"error_bound_ratio", make_metric("error_bound_ratio", 0.5)}}});
  return table;
}

bool is_probe(const Case& cell) { return cell.model.ref == "aten:add.Tensor"; }

class StoppableListener : public CampaignListener {
 public:
  explicit StoppableListener(const bool& is_stopped) : is_stopped_(is_stopped) {}
  bool should_stop() override { return is_stopped_; }

 private:
  const bool& is_stopped_;
};

}  // namespace

Status ScriptedCampaign::operator()(const CampaignRequest& request, const CampaignTools& tools) {
  EXPECT_TRUE(request.context.is_resumed);
  for (const auto& cell : request.cases) {
    if (!is_probe(cell) && stop_after-- == 0) {
      is_stopped = true;
      return fail(ErrorCode::kTimeout, "stopped");
    }
    if (is_lost(cell, request.n)) {
      continue;
    }
    ASSAY_RETURN_IF_ERROR(tools.store.add_case(request.context.run.id, cell));
    ASSAY_ASSIGN_OR_RETURN(const auto attempts,
                           tools.store.attempts_of_run(request.context.run.id));
    const bool is_done = std::ranges::any_of(attempts, [&](const Attempt& one) {
      return one.case_key == case_key(cell) && one.n == request.n &&
             tools.store.get_subject(one.subject)->engine_build == cell.engine_build;
    });
    if (!is_done) {
      ASSAY_RETURN_IF_ERROR(execute(request, cell, tools.store));
    }
  }
  return {};
}

bool ScriptedCampaign::is_lost(const Case& cell, int n) const {
  const auto& args = cell.model.args;
  return args.is_object() && args.contains("number") &&
         lost == std::pair(args.at("number").get<int>(), n);
}

ConformVerdict ScriptedCampaign::found_on(const Case& cell, ConformVerdict scripted) const {
  return cell.engine_build == wrong_build ? ConformVerdict::kFailNumeric : scripted;
}

Status ScriptedCampaign::execute(const CampaignRequest& request, const Case& cell,
                                 ResultStore& store) {
  const bool is_joint = cell.model.ref == "joint";
  Attempt attempt{.id = make_uuid7(),
                  .run = request.context.run.id,
                  .case_key = case_key(cell),
                  .pass = Pass::kEvaluate,
                  .n = request.n,
                  .is_finished = true};
  Json parts = Json::array();
  std::vector<AccuracyTable> tables;
  ConformVerdict verdict = ConformVerdict::kPass;
  if (is_joint) {
    const auto& models = cell.model.args.at("models");
    log.push_back("joint " + std::to_string(models.size()));
    for (const auto& model : models) {
      const auto found =
          found_on(cell, behaviours_[model.at("args").at("number").get<int>()].joint);
      verdict = spoils_program(found) ? found : verdict;
      tables.push_back(table_of(found));
      parts.push_back({{"outputs", {0, 1}},
                       {"delegation",
                        {{"nodes_delegated", 2},
                         {"nodes_not_delegated", 1},
                         {"operators_left", {{{"name", "aten.x"}}}}}}});
    }
  } else if (is_probe(cell)) {
    verdict = cell.engine_build == broken_build ? ConformVerdict::kCrashed : of_probe;
    tables.push_back(table_of(verdict));
  } else {
    const int number = cell.model.args.at("number").get<int>();
    const auto& behaviour = behaviours_[number];
    log.push_back("alone " + std::to_string(number) + " try " + std::to_string(request.n));
    const auto at = std::min(static_cast<std::size_t>(request.n) - 1, behaviour.alone.size() - 1);
    verdict = found_on(cell, behaviour.alone[at]);
    tables.push_back(table_of(verdict));
  }
  const Artifact artifact{
      .key = attempt.case_key,
      .entry = "p",
      .files = {{"p", "program", 1, attempt.case_key}},
      .manifest = {
          {"delegation", "none"},
          {"program", {{"nodes_delegated", 0}, {"nodes_not_delegated", 3}, {"parts", parts}}}}};
  const Subject subject{.engine_build = cell.engine_build, .artifact_digest = artifact.digest()};
  attempt.subject = subject_key(subject);
  attempt.artifact = artifact.id();
  attempt.outcome = outcome_of(verdict);
  attempt.stage = attempt.outcome == Outcome::kCompleted  ? Stage::kDone
                  : attempt.outcome == Outcome::kRunError ? Stage::kSteady
                                                          : Stage::kLower;
  attempt.text = "as told";
  ASSAY_RETURN_IF_ERROR(store.add_artifact(artifact));
  ASSAY_RETURN_IF_ERROR(store.add_subject(subject));
  ASSAY_RETURN_IF_ERROR(store.put_attempt(attempt));
  if (attempt.outcome != Outcome::kCompleted) {
    return {};
  }
  const auto content = is_joint ? Json(tables).dump() : Json(tables.front()).dump();
  return store.add_attachment({.owner = attempt.id,
                               .kind = is_joint ? "part_tables" : "accuracy_table",
                               .content = content});
}

ScriptedBench::ScriptedBench(std::map<int, Behaviour> behaviours, KnownGaps gaps)
    : campaign(std::move(behaviours)) {
  for (int i = 0; i < 8; ++i) {
    request.listing.cases.push_back({.name = "case/" + std::to_string(i),
                                     .model = {.ref = "aten:x", .args = {{"number", i}}},
                                     .inputs = {.generator = "model", .count = 3},
                                     .operator_name = i < 4 ? "aten.a" : "aten.b",
                                     .dtype = "float32",
                                     .is_joinable = true});
  }
  ConformSetting setting;
  setting.pattern.recipe.name = "executorch/portable";
  setting.pattern.recipe.is_preset = true;
  setting.pattern.engine = "executorch";
  setting.pattern.engine_build = "executorch@1";
  setting.gaps = std::move(gaps);
  setting.gaps.recipe = "executorch/portable";
  request.settings = {setting};
  request.suite = "operators";
  request.context.environment.id = "machine";
  request.context.run = {.id = make_uuid7(), .purpose = "conform", .environment = "machine"};
}

Result<ConformReport> ScriptedBench::try_run() {
  StoppableListener listener(campaign.is_stopped);
  const CampaignTools tools{
      .store = *store,
      .cache = cache,
      .toolchain_of = [this](const Json&) { return Result<Toolchain>(Toolchain{.id = toolchain}); },
      .listener = listener};
  return run_conformance(request, tools, std::ref(campaign));
}

ConformReport ScriptedBench::run() {
  auto report = try_run();
  EXPECT_TRUE(report) << report.error().message;
  return report ? *std::move(report) : ConformReport{};
}

Error ScriptedBench::refusal() {
  auto report = try_run();
  EXPECT_FALSE(report);
  return report ? Error{} : std::move(report).error();
}

void ScriptedBench::start_again() {
  request.context.run.id = make_uuid7();
  campaign.log.clear();
}

std::vector<ConformVerdict> verdicts_of(const ConformReport& report) {
  std::vector<ConformVerdict> verdicts(report.results.size());
  std::ranges::transform(report.results, verdicts.begin(), &ConformResult::verdict);
  return verdicts;
}

}  // namespace assay
