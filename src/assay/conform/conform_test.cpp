#include "assay/conform/conform.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "assay/artifact/toolchain.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/uuid.h"
#include "assay/conform/judgement.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/conformance.h"
#include "assay/record/run.h"
#include "assay/record/subject.h"
#include "assay/record/summary.h"
#include "assay/store/result_store.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// How a case behaves alone, by its number in model.args, from its first judgement on; the last
/// word stays. In a joint program it behaves as `joint` says.
struct Behaviour {
  std::vector<ConformVerdict> alone = {ConformVerdict::kPass};
  ConformVerdict joint = ConformVerdict::kPass;  ///< kCrashed and the like take the program along.
};

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

/// Stands for run_campaign: writes into the store what one would have found.
class ScriptedCampaign {
 public:
  explicit ScriptedCampaign(std::map<int, Behaviour> behaviours)
      : behaviours_(std::move(behaviours)) {}

  Status operator()(const CampaignRequest& request, const CampaignTools& tools) {
    EXPECT_TRUE(request.is_resumed);
    for (const auto& cell : request.cases) {
      if (!is_probe(cell) && stop_after_-- == 0) {
        is_stopped_ = true;
        return fail(ErrorCode::kTimeout, "stopped");
      }
      ASSAY_RETURN_IF_ERROR(tools.store.add_case(request.run.id, cell));
      ASSAY_ASSIGN_OR_RETURN(const auto attempts, tools.store.attempts_of_run(request.run.id));
      const bool is_done = std::ranges::any_of(attempts, [&](const Attempt& one) {
        return one.case_key == case_key(cell) && one.n == request.n;
      });
      if (!is_done) {
        ASSAY_RETURN_IF_ERROR(execute(request, cell, tools.store));
      }
    }
    return {};
  }

  std::vector<std::string> log;  ///< "joint 3" or "alone 7 try 1", in order; no probes.
  ConformVerdict of_probe = ConformVerdict::kPass;
  std::string broken_build;  ///< Its probe crashes.
  int stop_after_ = -1;
  bool is_stopped_ = false;

 private:
  static bool is_probe(const Case& cell) { return cell.model.ref == "aten:add.Tensor"; }

  Status execute(const CampaignRequest& request, const Case& cell, ResultStore& store) {
    const bool is_joint = cell.model.ref == "joint";
    Attempt attempt{.id = make_uuid7(),
                    .run = request.run.id,
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
        const auto found = behaviours_[model.at("args").at("number").get<int>()].joint;
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
      verdict = behaviour.alone[at];
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

  std::map<int, Behaviour> behaviours_;
};

class StoppableListener : public CampaignListener {
 public:
  explicit StoppableListener(const bool& is_stopped) : is_stopped_(is_stopped) {}
  bool should_stop() override { return is_stopped_; }

 private:
  const bool& is_stopped_;
};

/// Eight cases of two operators with one recipe.
struct Bench {
  std::unique_ptr<ResultStore> store = make_memory_store();
  TemporaryFolder folder = TemporaryFolder::make("assay-test").value();
  ArtifactCache cache{folder.path()};
  ConformRequest request;
  ScriptedCampaign campaign;
  std::string toolchain;  ///< Its id; attempts know that of none.

  explicit Bench(std::map<int, Behaviour> behaviours, KnownGaps gaps = {})
      : campaign(std::move(behaviours)) {
    for (int i = 0; i < 8; ++i) {
      request.listing.cases.push_back({.name = "case/" + std::to_string(i),
                                       .model = {.ref = "aten:x", .args = {{"number", i}}},
                                       .inputs = {.generator = "own", .count = 3},
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
    request.campaign.environment.id = "machine";
    request.campaign.run = {.id = make_uuid7(), .purpose = "conform", .environment = "machine"};
  }

  ConformReport run() {
    StoppableListener listener(campaign.is_stopped_);
    const CampaignTools tools{
        .store = *store,
        .cache = cache,
        .toolchain_of =
            [this](const Json&) { return Result<Toolchain>(Toolchain{.id = toolchain}); },
        .listener = listener};
    auto report = run_conformance(request, tools, std::ref(campaign));
    EXPECT_TRUE(report) << report.error().message;
    return report ? *std::move(report) : ConformReport{};
  }

  void start_again() {
    request.campaign.run.id = make_uuid7();
    campaign.log.clear();
  }
};

std::vector<ConformVerdict> verdicts_of(const ConformReport& report) {
  std::vector<ConformVerdict> verdicts;
  for (const auto& result : report.results) {
    verdicts.push_back(result.verdict);
  }
  return verdicts;
}

int count_of(const ConformReport& report, ConformVerdict verdict) {
  const auto verdicts = verdicts_of(report);
  return static_cast<int>(std::ranges::count(verdicts, verdict));
}

TEST(Conformance, APassInAJointProgramIsAPassAndAnAttemptOfTheCase) {
  Bench bench({});
  const auto report = bench.run();
  EXPECT_THAT(bench.campaign.log, ElementsAre("joint 8"));
  EXPECT_EQ(count_of(report, ConformVerdict::kPass), 8);
  EXPECT_EQ(report.joint_programs, 1);
  EXPECT_EQ(report.alone_programs, 0);
  const auto& result = report.results[2];
  EXPECT_TRUE(result.is_joint);
  EXPECT_EQ(result.delegation, Delegation::kPartial);
  EXPECT_THAT(result.operators_left, ElementsAre("aten.x"));
  EXPECT_EQ(result.error_bound_ratio->value, 0.5);
  const auto attempts = bench.store->attempts_of_run(report.run.id).value();
  ASSERT_THAT(attempts, SizeIs(1 + 1 + 8));  // The probe, the joint program, each case.
  const auto own = std::ranges::find(attempts, result.case_key, &Attempt::case_key);
  ASSERT_NE(own, attempts.end());
  EXPECT_EQ(own->reason_code, "joint");
  EXPECT_THAT(bench.store->attachments_of(own->id).value(), SizeIs(1));
  EXPECT_THAT(bench.store->metrics_of_attempt(own->id).value(), SizeIs(1));
}

TEST(Conformance, APartThatFailsIsJudgedAloneTwiceAndTheOthersAreNot) {
  Bench bench(
      {{3, {.alone = {ConformVerdict::kFailNumeric}, .joint = ConformVerdict::kFailNumeric}}});
  const auto report = bench.run();
  EXPECT_THAT(bench.campaign.log, ElementsAre("joint 8", "alone 3 try 1", "alone 3 try 2"));
  EXPECT_EQ(report.results[3].verdict, ConformVerdict::kFailNumeric);
  EXPECT_EQ(report.results[3].was_in_joint, ConformVerdict::kFailNumeric);
  EXPECT_FALSE(report.results[3].is_joint);
  EXPECT_THAT(report.results[3].alone, SizeIs(2));
  EXPECT_EQ(report.results[3].delegation, Delegation::kNone);
  EXPECT_EQ(count_of(report, ConformVerdict::kPass), 7);
}

TEST(Conformance, AVerdictThatChangesIsNondeterministic) {
  Bench bench({{1,
                {.alone = {ConformVerdict::kFailNumeric, ConformVerdict::kPass},
                 .joint = ConformVerdict::kFailNumeric}},
               {2,
                {.alone = {ConformVerdict::kPass, ConformVerdict::kCrashed},
                 .joint = ConformVerdict::kVacuous}}});
  const auto report = bench.run();
  EXPECT_EQ(report.results[1].verdict, ConformVerdict::kFailNondeterministic);
  EXPECT_THAT(report.results[1].text, HasSubstr("fail_numeric in one process and pass in another"));
  EXPECT_EQ(report.results[2].verdict, ConformVerdict::kFailNondeterministic);
}

TEST(Conformance, WhatFailsOnlyBesideOthersPassesAndSaysSo) {
  Bench bench({{1, {.joint = ConformVerdict::kFailNumeric}}});
  const auto report = bench.run();
  EXPECT_EQ(report.results[1].verdict, ConformVerdict::kPass);
  EXPECT_EQ(report.results[1].was_in_joint, ConformVerdict::kFailNumeric);
  EXPECT_THAT(report.results[1].alone, SizeIs(2));
}

TEST(Conformance, AProgramThatFailsAsAWholeIsSplitUntilTheCulpritIsAlone) {
  Bench bench({{5, {.alone = {ConformVerdict::kAotError}, .joint = ConformVerdict::kAotError}}});
  const auto report = bench.run();
  // Between the operators, then the four of the one that fails alone; its failure is repeated.
  EXPECT_THAT(bench.campaign.log,
              ElementsAre("joint 8", "joint 4", "joint 4", "alone 4 try 1", "alone 5 try 1",
                          "alone 6 try 1", "alone 7 try 1", "alone 5 try 2"));
  EXPECT_EQ(report.results[5].verdict, ConformVerdict::kAotError);
  EXPECT_EQ(report.results[5].stage, Stage::kLower);
  EXPECT_FALSE(report.results[5].was_in_joint.has_value());
  EXPECT_EQ(count_of(report, ConformVerdict::kPass), 7);
}

TEST(Conformance, ACrashTakesNoOtherCaseAlong) {
  Bench bench({{0, {.alone = {ConformVerdict::kCrashed}, .joint = ConformVerdict::kCrashed}},
               {7, {.alone = {ConformVerdict::kTimedOut}, .joint = ConformVerdict::kTimedOut}}});
  const auto report = bench.run();
  EXPECT_EQ(count_of(report, ConformVerdict::kPass), 6);
  EXPECT_EQ(report.results[0].verdict, ConformVerdict::kCrashed);
  EXPECT_EQ(report.results[7].verdict, ConformVerdict::kTimedOut);
}

TEST(Conformance, ARefusalIsNotAskedForTwice) {
  Bench bench(
      {{0, {.alone = {ConformVerdict::kUnsupported}, .joint = ConformVerdict::kUnsupported}}});
  bench.run();
  EXPECT_EQ(std::ranges::count(bench.campaign.log, "alone 0 try 2"), 0);
}

TEST(Conformance, WhatRefusesAsItMustPassesAtOnce) {
  Bench bench({{1, {.alone = {ConformVerdict::kRunError}}},
               {2, {.alone = {ConformVerdict::kFailNumeric}}},
               {3, {.alone = {ConformVerdict::kRunError}, .joint = ConformVerdict::kRunError}}});
  for (const int number : {1, 2}) {
    auto& one = bench.request.listing.cases[static_cast<std::size_t>(number)];
    one.refuses = true;
    one.is_joinable = false;
  }
  const auto report = bench.run();
  EXPECT_EQ(report.results[1].verdict, ConformVerdict::kPass);
  EXPECT_EQ(report.results[2].verdict, ConformVerdict::kFailNumeric);
  EXPECT_THAT(report.results[2].text, HasSubstr("it took what it has to refuse"));
  EXPECT_EQ(report.results[3].verdict, ConformVerdict::kRunError);
  EXPECT_EQ(std::ranges::count(bench.campaign.log, "alone 1 try 2"), 0);
}

TEST(Conformance, OurOwnFaultIsNobodyElses) {
  Bench bench({{2,
                {.alone = {ConformVerdict::kHarnessError, ConformVerdict::kCrashed},
                 .joint = ConformVerdict::kHarnessError}}});
  EXPECT_EQ(bench.run().results[2].verdict, ConformVerdict::kHarnessError);
}

TEST(Conformance, WhatIsKnownIsJudgedOnceAndSpoilsNoProgram) {
  Bench bench({{5, {.alone = {ConformVerdict::kCrashed}, .joint = ConformVerdict::kCrashed}}},
              {.known_failures = {{.case_name = "case/5",
                                   .verdict = ConformVerdict::kCrashed,
                                   .reason = "a null pointer"}}});
  const auto report = bench.run();
  EXPECT_THAT(bench.campaign.log, ElementsAre("joint 7", "alone 5 try 1"));
  EXPECT_EQ(report.results[5].known, KnownGap::kKnownFailure);
  EXPECT_THAT(report.stale, IsEmpty());
}

TEST(Conformance, AKnownFailureThatPassesIsToBeStruckOff) {
  Bench bench({}, {.known_failures = {{.case_name = "case/5",
                                       .verdict = ConformVerdict::kCrashed,
                                       .reason = "a null pointer"}}});
  const auto report = bench.run();
  EXPECT_EQ(report.results[5].known, KnownGap::kUnexpectedPass);
  ASSERT_THAT(report.stale, SizeIs(1));
  EXPECT_EQ(report.stale[0].entry, "case/5");
}

TEST(Conformance, IsComparedWithTheRunBefore) {
  Bench bench(
      {{1, {.alone = {ConformVerdict::kFailNumeric}, .joint = ConformVerdict::kFailNumeric}}});
  const auto first = bench.run();
  EXPECT_EQ(first.earlier_run, "");
  bench.start_again();
  bench.campaign = ScriptedCampaign(
      {{2, {.alone = {ConformVerdict::kCrashed}, .joint = ConformVerdict::kCrashed}}});
  const auto second = bench.run();
  EXPECT_EQ(second.earlier_run, first.run.id);
  ASSERT_THAT(second.changes, SizeIs(2));
  EXPECT_EQ(second.changes[0].name, "case/1");
  EXPECT_EQ(second.changes[0].after, ConformVerdict::kPass);
  EXPECT_EQ(second.changes[1].before, ConformVerdict::kPass);
  EXPECT_EQ(second.changes[1].after, ConformVerdict::kCrashed);
}

TEST(Conformance, PassesHoldWhereNothingHasChanged) {
  Bench bench(
      {{1, {.alone = {ConformVerdict::kFailNumeric}, .joint = ConformVerdict::kFailNumeric}}});
  const auto first = bench.run();
  bench.start_again();
  bench.request.changed_since = first.run.id;
  const auto second = bench.run();
  EXPECT_THAT(bench.campaign.log, ElementsAre("alone 1 try 1", "alone 1 try 2"));
  EXPECT_EQ(verdicts_of(second), verdicts_of(first));
  EXPECT_EQ(second.results[0].unchanged_since, first.run.id);
  EXPECT_EQ(second.results[1].unchanged_since, "");
  EXPECT_THAT(second.notes, ElementsAre(HasSubstr("7 of 8 results are passes of run")));
  // The run that judged a case is asked, not the one that took its word for it.
  bench.start_again();
  bench.request.changed_since = second.run.id;
  EXPECT_EQ(bench.run().results[0].unchanged_since, first.run.id);
}

TEST(Conformance, WhatAPassDependsOnSpeaksAgainstIt) {
  Bench bench({});
  bench.request.changed_since = bench.run().run.id;
  const auto judged_after = [&bench](auto change) {
    auto kept = bench.request;
    bench.start_again();
    change(bench);
    EXPECT_TRUE(bench.store->add_environment(bench.request.campaign.environment));
    const auto report = bench.run();
    bench.request = std::move(kept);
    return std::ranges::count(report.results, "", &ConformResult::unchanged_since);
  };
  EXPECT_EQ(judged_after([](Bench&) {}), 0);
  EXPECT_EQ(judged_after([](Bench& one) { one.toolchain = "another"; }), 8);
  bench.toolchain = "";
  EXPECT_EQ(
      judged_after([](Bench& one) {
        one.request.campaign.builds = {{.name = "executorch", .label = "1", .build_id = "rebuilt"}};
      }),
      8);
  EXPECT_EQ(judged_after([](Bench& one) {
              one.request.campaign.environment.id = "another";
              one.request.campaign.run.environment = "another";
            }),
            8);
  EXPECT_EQ(judged_after([](Bench& one) { one.request.listing.cases[2].inputs.seed = 5; }), 1);
  EXPECT_EQ(
      judged_after([](Bench& one) {
        one.request.settings[0].gaps.looser = {
            {.match = {.operator_name = "aten.b"}, .error_bound_ratio = 2, .reason = "a table"}};
      }),
      4);
}

TEST(Conformance, StoppedGoesOnWhereItWasAndDoesNothingTwice) {
  Bench bench({{5, {.alone = {ConformVerdict::kAotError}, .joint = ConformVerdict::kAotError}}});
  bench.campaign.stop_after_ = 4;
  const auto stopped = bench.run();
  EXPECT_EQ(count_of(stopped, ConformVerdict::kNotRun), 3);  // 5, 6 and 7.
  EXPECT_THAT(stopped.notes, SizeIs(1));
  EXPECT_EQ(bench.store->get_run(stopped.run.id).value().finished_unix_ns, 0);
  bench.campaign.stop_after_ = -1;
  bench.campaign.is_stopped_ = false;
  bench.request.campaign.is_resumed = true;
  const auto whole = bench.run();
  EXPECT_EQ(count_of(whole, ConformVerdict::kPass), 7);
  EXPECT_NE(bench.store->get_run(whole.run.id).value().finished_unix_ns, 0);
  const std::set<std::string> distinct(bench.campaign.log.begin(), bench.campaign.log.end());
  EXPECT_EQ(bench.campaign.log.size(), distinct.size() + 1);  // Two programs are "joint 4".
  const auto attempts = bench.store->attempts_of_run(whole.run.id).value();
  EXPECT_THAT(attempts, SizeIs(1 + 3 + 4 + 5));  // Probe, joint programs, parts that pass, alone.
}

TEST(Conformance, ARecipeThatCannotAddIsUnavailableAndNotAHeapOfFailures) {
  Bench bench({});
  bench.campaign.of_probe = ConformVerdict::kLoadError;
  const auto report = bench.run();
  EXPECT_THAT(bench.campaign.log, IsEmpty());
  EXPECT_EQ(count_of(report, ConformVerdict::kNotRun), 8);
  EXPECT_EQ(report.results[0].reason_code, kRecipeUnavailable);
  EXPECT_THAT(report.results[0].text, HasSubstr("ends in load_error: as told"));
  EXPECT_THAT(report.notes, ElementsAre(HasSubstr("executorch/portable on executorch@1 is")));
}

TEST(Conformance, ARecipeThatAddsWronglyIsTried) {
  for (const auto verdict : {ConformVerdict::kFailNumeric, ConformVerdict::kUnsupported}) {
    Bench bench({});
    bench.campaign.of_probe = verdict;
    EXPECT_EQ(count_of(bench.run(), ConformVerdict::kPass), 8);
  }
}

TEST(Conformance, AnUnavailableRecipeTakesNoOtherAlong) {
  Bench bench({});
  bench.request.settings.push_back(bench.request.settings.front());
  bench.request.settings[1].pattern.recipe.name = "executorch/other";
  bench.request.settings[1].pattern.engine_build = "executorch@2";
  bench.request.settings[1].gaps.recipe = "executorch/other";
  bench.campaign.broken_build = "executorch@2";
  const auto report = bench.run();
  EXPECT_EQ(count_of(report, ConformVerdict::kPass), 8);
  EXPECT_EQ(count_of(report, ConformVerdict::kNotRun), 8);
}

TEST(Conformance, APassOfWhichTooLittleIsDelegatedIsNone) {
  Bench bench({});
  bench.request.required_delegation = Delegation::kFull;
  const auto report = bench.run();
  EXPECT_EQ(count_of(report, ConformVerdict::kFailDelegation), 8);
  EXPECT_THAT(report.results[0].text,
              HasSubstr("delegation is partial, full is required; left: aten.x"));
  EXPECT_EQ(report.results[0].known, KnownGap::kNewFailure);
  bench.start_again();
  bench.request.required_delegation = Delegation::kPartial;
  EXPECT_EQ(count_of(bench.run(), ConformVerdict::kPass), 8);
}

TEST(Conformance, WhatIsWrongIsSaidBeforeWhatIsNotDelegated) {
  Bench bench(
      {{3, {.alone = {ConformVerdict::kFailNumeric}, .joint = ConformVerdict::kFailNumeric}}});
  bench.request.required_delegation = Delegation::kFull;
  EXPECT_EQ(bench.run().results[3].verdict, ConformVerdict::kFailNumeric);
}

TEST(Conformance, IsReadBackAsItWas) {
  Bench bench({});
  const auto report = bench.run();
  const auto run = bench.store->get_run(report.run.id).value();
  const auto read = read_conform_report(*bench.store, run);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(Json(read->results), Json(report.results));
  const assay::Run other{.id = make_uuid7(), .environment = "machine"};
  ASSERT_TRUE(bench.store->add_run(other));
  EXPECT_EQ(read_conform_report(*bench.store, other).error().code, ErrorCode::kNotFound);
}

TEST(Judgement, OfWhatWasHeldAgainstNothingIsOurFault) {
  EXPECT_EQ(verdict_of(Outcome::kCompleted, Accuracy::kNotChecked), ConformVerdict::kHarnessError);
  EXPECT_EQ(verdict_of(Outcome::kCompleted, Accuracy::kVacuous), ConformVerdict::kVacuous);
  EXPECT_EQ(verdict_of(Outcome::kOutOfMemory, Accuracy::kPass), ConformVerdict::kOutOfMemory);
}

TEST(Judgement, IsDelegatedEnoughOrNot) {
  EXPECT_TRUE(is_delegated_enough(Delegation::kFull, Delegation::kFull));
  EXPECT_FALSE(is_delegated_enough(Delegation::kPartial, Delegation::kFull));
  EXPECT_TRUE(is_delegated_enough(Delegation::kPartial, Delegation::kPartial));
  EXPECT_FALSE(is_delegated_enough(Delegation::kNone, Delegation::kPartial));
  EXPECT_FALSE(is_delegated_enough(Delegation::kUnknown, Delegation::kPartial));
  EXPECT_TRUE(is_delegated_enough(Delegation::kUnknown, Delegation::kNone));
}

TEST(Judgement, DelegationIsFullWhereNothingIsLeft) {
  EXPECT_EQ(delegation_from(2, 0), Delegation::kFull);
  EXPECT_EQ(delegation_from(0, 0), Delegation::kFull);
  EXPECT_EQ(delegation_from(0, 1), Delegation::kNone);
  EXPECT_EQ(delegation_from(3, 1), Delegation::kPartial);
}

}  // namespace
}  // namespace assay
