#include "features/watch/testing/scripted_repository.h"

#include "features/watch/events.h"
#include "features/watch/find_culprit.h"
#include "features/watch/revision_runner.h"
#include "features/watch/run_points.h"
#include "features/watch/verify.h"
#include "features/watch/watch_view.h"
#include "features/watch/watcher.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/uuid.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/comparison.h"
#include "assay/record/incident.h"
#include "assay/record/launch.h"
#include "assay/record/metric.h"
#include "assay/record/revision_build.h"
#include "assay/record/run.h"
#include "assay/record/subject.h"
#include "assay/record/summary.h"
#include "assay/stats/quantile.h"

namespace assay::watch {
namespace {

constexpr double kBase = 1000;  ///< Cost at level 0.
constexpr int kPairs = 20;

Case case_of(const std::string& name) {
  return {.model = {.ref = name + ".bin"}, .recipe = {.name = "program"}, .engine = "toy"};
}

ComparisonVerdict verdict_of(double change, double least, Better better) {
  if (std::abs(change) < least) {
    return ComparisonVerdict::kEquivalent;
  }
  // A metric that is better when it is higher calls more of it faster.
  return (change > 0) == (better != Better::kHigher) ? ComparisonVerdict::kSlower
                                                     : ComparisonVerdict::kFaster;
}

}  // namespace

ScriptedRepository::ScriptedRepository(std::vector<ScriptedRevision> wanted, ScriptedMetric metric,
                                       std::uint64_t seed, std::vector<std::string> names)
    : script(std::move(wanted)),
      cases(std::move(names)),
      metric_(std::move(metric)),
      random_(seed) {
  spec.origin = "toy.json";
  spec.repository = {.url = "/toy", .engine = "toy"};
  spec.policy.reference = "pinned:r1";
  spec.policy.rounds = 6;
  spec.policy.min_effect_ratio = {{metric_.full_name(), 0.02}};
  environment.name = "default";
  spec.environments = {environment};
  for (std::size_t i = 0; i < script.size(); ++i) {
    const auto position = static_cast<std::int64_t>(i) + 1;
    revisions.push_back({.repository = spec.repository.id(),
                         .hash = fmt::format("r{}", position),
                         .position = position,
                         .committed_unix_ns = now_unix_ns(),
                         .subject = fmt::format("part {}", position)});
  }
  const auto is_there = store->add_repository(spec.repository).has_value() &&
                        store->add_revisions(revisions).has_value();
  ASSAY_CHECK(is_there);
}

void ScriptedRepository::note(std::string call) {
  on_call(call);
  calls.push_back(std::move(call));
}

const ScriptedRevision& ScriptedRepository::script_of(const std::string& hash) const {
  const auto found = std::ranges::find(revisions, hash, &Revision::hash);
  return script[static_cast<std::size_t>(found - revisions.begin())];
}

std::string ScriptedRepository::key_of_case(const std::string& name) const {
  return case_key(case_of(name));
}

Result<RevisionBuild> ScriptedRepository::build(const Revision& revision) {
  note("build " + revision.hash);
  const auto& one = script_of(revision.hash);
  RevisionBuild build{.repository = spec.repository.id(),
                      .revision = revision.hash,
                      .environment = environment.name,
                      .engine = spec.repository.engine,
                      .label = revision.hash,
                      .outcome = one.is_broken ? BuildOutcome::kFailed : BuildOutcome::kBuilt,
                      .reason = one.is_broken ? "make ended with 2" : "",
                      .built_unix_ns = now_unix_ns()};
  if (!one.is_broken) {
    build.output_digest = one.bytes.empty() ? "bytes of " + revision.hash : one.bytes;
  }
  ASSAY_RETURN_IF_ERROR(store->add_engine_build(build));
  return build;
}

double ScriptedRepository::draw_level(const std::string& hash, const std::string& name) {
  const auto& levels = script_of(hash).levels;
  const auto level = levels.find(name);
  std::normal_distribution<double> noise(0, 1);
  return (level == levels.end() ? 0 : level->second) + metric_.noise * noise(random_);
}

Status ScriptedRepository::add_case_of_run(const Run& run, const RevisionBuild& build,
                                           const std::string& name, int rounds) {
  auto cell = case_of(name);
  cell.engine_build = build.reference();
  ASSAY_RETURN_IF_ERROR(store->add_case(run.id, cell));
  const Subject subject{.engine_build = build.reference(), .engine_build_id = build.output_digest};
  ASSAY_RETURN_IF_ERROR(store->add_subject(subject));
  const bool is_crash =
      script_of(build.revision).crashing.contains(name) || is_flaky(build.revision, name);
  const Attempt attempt{.id = make_uuid7(),
                        .run = run.id,
                        .case_key = case_key(cell),
                        .subject = subject_key(subject),
                        .pass = Pass::kTiming,
                        .is_finished = true,
                        .outcome = is_crash ? Outcome::kCrashed : Outcome::kCompleted,
                        .stage = is_crash ? Stage::kSteady : Stage::kDone};
  ASSAY_RETURN_IF_ERROR(store->put_attempt(attempt));
  for (int i = 0; i < rounds && !is_crash; ++i) {
    const double level = draw_level(build.revision, name) + metric_.drift * i;
    const double cost = kBase * std::exp(level);
    const double value = metric_.better == Better::kHigher ? 1 / cost : cost;
    Launch launch{.id = make_uuid7(), .attempt = attempt.id, .index = i, .order = i};
    if (is_lost(build.revision, i)) {
      launch.outcome = Outcome::kCrashed;
    } else {
      launch.measurement = Measurement{.times = TimesTold::kNone};
      launch.measurement->metrics = {{.name = metric_.name,
                                      .unit = metric_.unit,
                                      .better = metric_.better,
                                      .value = is_zero(build.revision, i) ? 0 : value}};
    }
    ASSAY_RETURN_IF_ERROR(store->add_launch(launch));
  }
  return add_evaluation(run, cell, script_of(build.revision), subject_key(subject));
}

Status ScriptedRepository::add_evaluation(const Run& run, const Case& cell,
                                          const ScriptedRevision& one, const std::string& subject) {
  if (!one.error) {
    return {};
  }
  const Attempt attempt{.id = make_uuid7(),
                        .run = run.id,
                        .case_key = case_key(cell),
                        .subject = subject,
                        .pass = Pass::kEvaluate,
                        .is_finished = true,
                        .outcome = Outcome::kCompleted,
                        .stage = Stage::kDone};
  ASSAY_RETURN_IF_ERROR(store->put_attempt(attempt));
  AccuracyTable table{.against = "float32", .accuracy = Accuracy::kPass, .reason = "it holds"};
  if (one.has_varying_outputs) {
    table.differing_elements = 3;
  }
  table.outputs = {{.output = "y",
                    .metrics = {{"max_abs_error", make_metric("max_abs_error", *one.error)}},
                    .bounds = {{"max_abs_error", 1e-3}}}};
  return store->add_attachment(
      {.owner = attempt.id, .kind = "accuracy_table", .content = Json(table).dump()});
}

Result<Run> ScriptedRepository::measure(const Sitting& sitting, std::string_view purpose,
                                        int rounds) {
  const auto reference = sitting.reference ? sitting.reference->revision : std::string();
  note(fmt::format("measure {} beside {} for {}", sitting.revision.hash,
                   reference.empty() ? "none" : reference, purpose));
  Run run{.id = make_uuid7(),
          .purpose = std::string(purpose),
          .labels = {{"commit", sitting.build.revision},
                     {"engine", sitting.build.engine},
                     {"environment", sitting.build.environment}},
          .environment = "m",
          .started_unix_ns = now_unix_ns()};
  if (sitting.reference) {
    run.labels["reference"] = reference;
  }
  if (!sitting.incident.empty()) {
    run.labels["incident"] = sitting.incident;
  }
  ASSAY_RETURN_IF_ERROR(store->add_environment({.id = "m"}));
  ASSAY_RETURN_IF_ERROR(store->add_run(run));
  for (const auto& name : cases) {
    if (sitting.reference && sitting.reference->revision != sitting.build.revision) {
      ASSAY_RETURN_IF_ERROR(add_case_of_run(run, *sitting.reference, name, rounds));
    }
    ASSAY_RETURN_IF_ERROR(add_case_of_run(run, sitting.build, name, rounds));
  }
  ASSAY_RETURN_IF_ERROR(store->finish_run(run.id, now_unix_ns()));
  return store->get_run(run.id);
}

Result<Comparison> ScriptedRepository::compare(const BuildPair& pair, const ComparisonPlan& plan) {
  note(fmt::format("compare {} with {}", pair.a.revision, pair.b.revision));
  const auto name = std::ranges::find(cases, pair.case_key,
                                      [this](const std::string& one) { return key_of_case(one); });
  if (name == cases.end()) {
    return fail(ErrorCode::kUnsupported, "none is the case to be verified");
  }
  const bool is_rate = metric_.better == Better::kHigher;
  std::vector<double> changes;
  for (int i = 0; i < kPairs; ++i) {
    const double a = draw_level(pair.a.revision, *name);
    const double b = draw_level(pair.b.revision, *name);
    changes.push_back(is_rate ? a - b : b - a);
  }
  const double change = stats::median(changes);
  Comparison comparison{.id = make_uuid7(), .plan = plan};
  comparison.verdict = verdict_of(change, std::log1p(plan.gate_ratio), metric_.better);
  comparison.is_confirmed = comparison.verdict != ComparisonVerdict::kEquivalent;
  comparison.text = "as the script says";
  const double cost = kBase * std::exp(draw_level(pair.a.revision, *name));
  const double a_median = is_rate ? 1 / cost : cost;
  comparison.metrics = {{.metric = plan.metric,
                         .pairs = kPairs,
                         .ratio = std::expm1(change),
                         .verdict = comparison.verdict,
                         .a_median = a_median,
                         .b_median = a_median * std::exp(change),
                         .unit = metric_.unit,
                         .better = metric_.better}};
  return comparison;
}

Result<Json> ScriptedRepository::explain(const BuildPair& pair) {
  note("explain");
  const double before = kBase * std::exp(draw_level(pair.a.revision, cases.front()));
  const double change = kBase * std::exp(draw_level(pair.b.revision, cases.front())) - before;
  return Json{{"inference_ns", before},
              {"operators", Json::array({{{"name", "conv"}, {"change_ns", change}},
                                         {{"name", "relu"}, {"change_ns", -change / 10}}})}};
}

Result<Json> ScriptedRepository::count_instructions(const BuildPair& /*pair*/) {
  note("count instructions");
  return Json{{"unavailable", "a script has none"}};
}

Result<std::vector<std::string>> ScriptedRepository::changed_files(const Revision& revision) {
  const auto index = static_cast<std::size_t>(revision.position) - 1;
  const bool is_change = index > 0 && script[index].levels != script[index - 1].levels;
  return std::vector<std::string>{is_change ? "conv.c" : "relu.c"};
}

Status ScriptedRepository::watch() {
  WatchListener listener;
  auto newest_first = revisions;
  std::ranges::reverse(newest_first);
  ASSAY_ASSIGN_OR_RETURN(auto watcher,
                         Watcher::make({.spec = spec,
                                        .environment = environment,
                                        .store = *store,
                                        .runner = *this,
                                        .listener = listener,
                                        .now_unix_ns = [this] { return now_unix_ns(); },
                                        .pinned = "r1"},
                                       std::move(newest_first)));
  constexpr int kMostSteps = 1000;  // A watcher that never ends fails its test.
  for (int i = 0; i < kMostSteps; ++i) {
    ASSAY_ASSIGN_OR_RETURN(const bool has_worked, watcher.take_step());
    if (!has_worked) {
      return {};
    }
  }
  return fail(ErrorCode::kInternal, "the watcher comes to no end");
}

Result<Incident> ScriptedRepository::bisect() {
  Incident incident{.id = make_uuid7(),
                    .repository = spec.repository.id(),
                    .environment = environment.name,
                    .machine = "m",
                    .cases = {key_of_case(cases.front())},
                    .metric = metric_.full_name(),
                    .good = revisions.front().hash,
                    .bad = revisions.back().hash,
                    .opened_unix_ns = now_unix_ns(),
                    .attribution = Json::object()};
  ASSAY_RETURN_IF_ERROR(store->add_incident(incident));
  const auto known = view();
  ASSAY_ASSIGN_OR_RETURN(incident, verify_incident(known, incident, tools()));
  return incident.state == IncidentState::kConfirmed ? find_culprit(known, incident, tools())
                                                     : Result<Incident>(incident);
}

std::vector<Incident> ScriptedRepository::incidents() const {
  return store->incidents_of(spec.repository.id()).value();
}

WatchView ScriptedRepository::view() const {
  auto newest_first = revisions;
  std::ranges::reverse(newest_first);
  return read_view(*store, spec, environment, std::move(newest_first)).value();
}

IncidentTools ScriptedRepository::tools() {
  return {.spec = spec, .store = *store, .runner = *this, .now_unix_ns = [this] {
            return now_unix_ns();
          }};
}

}  // namespace assay::watch
