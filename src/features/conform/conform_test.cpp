#include "features/conform/conform.h"

#include "features/conform/case_verdict.h"
#include "features/conform/testing/scripted_bench.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/uuid.h"
#include "assay/record/axes.h"
#include "assay/record/conformance.h"
#include "assay/record/run.h"
#include "assay/record/subject.h"
#include "assay/store/stored_conformance.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

int count_of(const ConformReport& report, ConformVerdict verdict) {
  const auto verdicts = verdicts_of(report);
  return static_cast<int>(std::ranges::count(verdicts, verdict));
}

TEST(Conformance, AWrongRunToCompareWithIsToldBeforeAnyCase) {
  ScriptedBench bench({});
  bench.request.earlier_run = "nope";
  EXPECT_EQ(bench.refusal().code, ErrorCode::kNotFound);
  const assay::Run without_report{
      .id = make_uuid7(), .purpose = "conform", .environment = "machine"};
  ASSERT_TRUE(bench.store->add_environment(bench.request.context.environment));
  ASSERT_TRUE(bench.store->add_run(without_report));
  bench.request.earlier_run = without_report.id;
  EXPECT_THAT(bench.refusal().message, HasSubstr("has no conformance report"));
  EXPECT_THAT(bench.campaign.log, IsEmpty());
}

TEST(Conformance, TheLatestRunToCompareWithIsTheOneBeforeThis) {
  ScriptedBench bench({});
  const auto first = bench.run();
  bench.start_again();
  bench.request.earlier_run = "latest";
  const auto second = bench.run();
  EXPECT_EQ(second.earlier_run, first.run.id);
  EXPECT_EQ(second.results_compared, 8);
}

TEST(Conformance, AResumedRunKeepsItsLibrariesAndTolerances) {
  ScriptedBench bench({});
  bench.campaign.stop_after = 0;
  const auto stopped = bench.run();
  bench.campaign.stop_after = -1;
  bench.campaign.is_stopped = false;
  auto& context = bench.request.context;
  context.run = bench.store->get_run(stopped.run.id).value();
  context.is_resumed = true;
  auto& tolerance = bench.request.settings[0].pattern.recipe.tolerance;
  tolerance = {{"sqnr_db", 40}, {"why", "stricter"}};
  EXPECT_THAT(bench.refusal().message, HasSubstr("judged with other libraries or tolerances"));
  tolerance = Json::object();
  EXPECT_EQ(count_of(bench.run(), ConformVerdict::kPass), 8);
}

TEST(Conformance, APassInAJointProgramIsAPassAndAnAttemptOfTheCase) {
  ScriptedBench bench({});
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
  ScriptedBench bench(
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
  ScriptedBench bench({{1,
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
  ScriptedBench bench({{1, {.joint = ConformVerdict::kFailNumeric}}});
  const auto report = bench.run();
  EXPECT_EQ(report.results[1].verdict, ConformVerdict::kPass);
  EXPECT_EQ(report.results[1].was_in_joint, ConformVerdict::kFailNumeric);
  EXPECT_THAT(report.results[1].alone, SizeIs(2));
}

TEST(Conformance, AProgramThatFailsAsAWholeIsSplitUntilTheCulpritIsAlone) {
  ScriptedBench bench(
      {{5, {.alone = {ConformVerdict::kAotError}, .joint = ConformVerdict::kAotError}}});
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

TEST(Conformance, ALostJobIsOurErrorAndNoCaseThatWasNotRun) {
  ScriptedBench bench({{1, {.joint = ConformVerdict::kFailNumeric}}});
  bench.campaign.lost = {1, 1};
  const auto report = bench.run();
  EXPECT_EQ(report.results[1].verdict, ConformVerdict::kHarnessError);
  EXPECT_EQ(report.results[1].reason_code, "device_lost");
}

TEST(Conformance, ACrashStandsWhoseSecondJobIsLost) {
  ScriptedBench bench(
      {{1, {.alone = {ConformVerdict::kCrashed}, .joint = ConformVerdict::kCrashed}}});
  bench.campaign.lost = {1, 2};
  EXPECT_EQ(bench.run().results[1].verdict, ConformVerdict::kCrashed);
}

TEST(Conformance, ACrashTakesNoOtherCaseAlong) {
  ScriptedBench bench(
      {{0, {.alone = {ConformVerdict::kCrashed}, .joint = ConformVerdict::kCrashed}},
       {7, {.alone = {ConformVerdict::kTimedOut}, .joint = ConformVerdict::kTimedOut}}});
  const auto report = bench.run();
  EXPECT_EQ(count_of(report, ConformVerdict::kPass), 6);
  EXPECT_EQ(report.results[0].verdict, ConformVerdict::kCrashed);
  EXPECT_EQ(report.results[7].verdict, ConformVerdict::kTimedOut);
}

TEST(Conformance, ARefusalIsNotAskedForTwice) {
  ScriptedBench bench(
      {{0, {.alone = {ConformVerdict::kUnsupported}, .joint = ConformVerdict::kUnsupported}}});
  bench.run();
  EXPECT_EQ(std::ranges::count(bench.campaign.log, "alone 0 try 2"), 0);
}

TEST(Conformance, WhatRefusesAsItMustPassesAtOnce) {
  ScriptedBench bench(
      {{1, {.alone = {ConformVerdict::kRunError}}},
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
  EXPECT_THAT(report.results[2].text, HasSubstr("it refused nothing"));
  EXPECT_EQ(report.results[3].verdict, ConformVerdict::kRunError);
  EXPECT_EQ(std::ranges::count(bench.campaign.log, "alone 1 try 2"), 0);
}

TEST(Conformance, OurOwnFaultIsNobodyElses) {
  ScriptedBench bench({{2,
                        {.alone = {ConformVerdict::kHarnessError, ConformVerdict::kCrashed},
                         .joint = ConformVerdict::kHarnessError}}});
  EXPECT_EQ(bench.run().results[2].verdict, ConformVerdict::kHarnessError);
}

TEST(Conformance, WhatIsKnownIsJudgedOnceAndSpoilsNoProgram) {
  ScriptedBench bench(
      {{5, {.alone = {ConformVerdict::kCrashed}, .joint = ConformVerdict::kCrashed}}},
      {.expected_failures = {{.case_name = "case/5",
                              .verdict = ConformVerdict::kCrashed,
                              .reason = "a null pointer"}}});
  const auto report = bench.run();
  EXPECT_THAT(bench.campaign.log, ElementsAre("joint 7", "alone 5 try 1"));
  EXPECT_EQ(report.results[5].known, KnownGap::kKnownFailure);
  EXPECT_THAT(report.stale, IsEmpty());
}

TEST(Conformance, AKnownFailureThatPassesIsToBeStruckOff) {
  ScriptedBench bench({}, {.expected_failures = {{.case_name = "case/5",
                                                  .verdict = ConformVerdict::kCrashed,
                                                  .reason = "a null pointer"}}});
  const auto report = bench.run();
  EXPECT_EQ(report.results[5].known, KnownGap::kUnexpectedPass);
  ASSERT_THAT(report.stale, SizeIs(1));
  EXPECT_EQ(report.stale[0].entry, "case/5");
}

TEST(Conformance, IsComparedWithTheRunBefore) {
  ScriptedBench bench(
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
  EXPECT_EQ(second.results_compared, 8);
  EXPECT_EQ(second.results_only_now, 0);
  EXPECT_EQ(second.results_only_earlier, 0);
}

TEST(Conformance, ComparesEachEngineBuildWithItself) {
  ScriptedBench bench({});
  bench.request.settings.push_back(bench.request.settings.front());
  bench.request.settings[1].pattern.engine_build = "executorch@2";
  bench.campaign.wrong_build = "executorch@1";
  bench.run();
  bench.start_again();
  const auto same = bench.run();
  EXPECT_EQ(same.results_compared, 16);
  EXPECT_THAT(same.changes, IsEmpty()) << "the builds differ, in both runs alike";
  bench.start_again();
  bench.campaign.wrong_build = "executorch@2";
  const auto turned = bench.run();
  ASSERT_THAT(turned.changes, SizeIs(16));
  EXPECT_EQ(std::ranges::count(turned.changes, ConformVerdict::kPass, &ConformChange::after), 8);
}

TEST(Conformance, ComparesTheOnlyBuildOfAnEngineWithTheOneBefore) {
  ScriptedBench bench({});
  bench.run();
  bench.start_again();
  bench.request.settings[0].pattern.engine_build = "executorch@2";
  bench.campaign.wrong_build = "executorch@2";
  const auto newer = bench.run();
  EXPECT_EQ(newer.results_compared, 8);
  EXPECT_THAT(newer.changes, SizeIs(8));
}

TEST(Conformance, CountsTheResultsThatTheRunBeforeDoesNotShare) {
  ScriptedBench bench({});
  const auto first = bench.run();
  bench.start_again();
  auto& listed = bench.request.listing.cases;
  listed.pop_back();
  listed.front().name = "case/renamed";
  const auto second = bench.run();
  EXPECT_EQ(second.earlier_run, first.run.id);
  EXPECT_THAT(second.changes, IsEmpty());
  EXPECT_EQ(second.results_compared, 6);
  EXPECT_EQ(second.results_only_now, 1);
  EXPECT_EQ(second.results_only_earlier, 2);
}

TEST(Conformance, StoppedGoesOnWhereItWasAndDoesNothingTwice) {
  ScriptedBench bench(
      {{5, {.alone = {ConformVerdict::kAotError}, .joint = ConformVerdict::kAotError}}});
  bench.campaign.stop_after = 4;
  const auto stopped = bench.run();
  EXPECT_EQ(count_of(stopped, ConformVerdict::kNotRun), 3);  // 5, 6 and 7.
  EXPECT_THAT(stopped.notes, SizeIs(1));
  EXPECT_EQ(bench.store->get_run(stopped.run.id).value().finished_unix_ns, 0);
  bench.campaign.stop_after = -1;
  bench.campaign.is_stopped = false;
  bench.request.context.is_resumed = true;
  const auto whole = bench.run();
  EXPECT_EQ(count_of(whole, ConformVerdict::kPass), 7);
  EXPECT_NE(bench.store->get_run(whole.run.id).value().finished_unix_ns, 0);
  const std::set<std::string> distinct(bench.campaign.log.begin(), bench.campaign.log.end());
  EXPECT_EQ(bench.campaign.log.size(), distinct.size() + 1);  // Two programs are "joint 4".
  const auto attempts = bench.store->attempts_of_run(whole.run.id).value();
  EXPECT_THAT(attempts, SizeIs(1 + 3 + 4 + 5));  // Probe, joint programs, parts that pass, alone.
}

TEST(Conformance, ARecipeThatCannotAddIsUnavailableAndNotAHeapOfFailures) {
  ScriptedBench bench({});
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
    ScriptedBench bench({});
    bench.campaign.of_probe = verdict;
    EXPECT_EQ(count_of(bench.run(), ConformVerdict::kPass), 8);
  }
}

TEST(Conformance, AnUnavailableRecipeTakesNoOtherAlong) {
  ScriptedBench bench({});
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
  ScriptedBench bench({});
  bench.request.required_delegation = Delegation::kFull;
  const auto report = bench.run();
  EXPECT_EQ(count_of(report, ConformVerdict::kFailDelegation), 8);
  EXPECT_THAT(report.results[0].text,
              HasSubstr("delegation is partial, but full is required; left: aten.x"));
  EXPECT_EQ(report.results[0].known, KnownGap::kNewFailure);
  bench.start_again();
  bench.request.required_delegation = Delegation::kPartial;
  EXPECT_EQ(count_of(bench.run(), ConformVerdict::kPass), 8);
}

TEST(Conformance, WhatIsWrongIsSaidBeforeWhatIsNotDelegated) {
  ScriptedBench bench(
      {{3, {.alone = {ConformVerdict::kFailNumeric}, .joint = ConformVerdict::kFailNumeric}}});
  bench.request.required_delegation = Delegation::kFull;
  EXPECT_EQ(bench.run().results[3].verdict, ConformVerdict::kFailNumeric);
}

TEST(Conformance, IsReadBackAsItWas) {
  ScriptedBench bench({});
  const auto report = bench.run();
  const auto run = bench.store->get_run(report.run.id).value();
  const auto read = read_conform_report(*bench.store, run);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(Json(read->results), Json(report.results));
  const assay::Run other{.id = make_uuid7(), .environment = "machine"};
  ASSERT_TRUE(bench.store->add_run(other));
  EXPECT_EQ(read_conform_report(*bench.store, other).error().code, ErrorCode::kNotFound);
}

TEST(CaseVerdict, OfWhatWasHeldAgainstNothingIsOurFault) {
  EXPECT_EQ(verdict_of(Outcome::kCompleted, Accuracy::kNotChecked), ConformVerdict::kHarnessError);
  EXPECT_EQ(verdict_of(Outcome::kCompleted, Accuracy::kVacuous), ConformVerdict::kVacuous);
  EXPECT_EQ(verdict_of(Outcome::kOutOfMemory, Accuracy::kPass), ConformVerdict::kOutOfMemory);
}

TEST(CaseVerdict, IsDelegatedEnoughOrNot) {
  EXPECT_TRUE(is_delegated_enough(Delegation::kFull, Delegation::kFull));
  EXPECT_FALSE(is_delegated_enough(Delegation::kPartial, Delegation::kFull));
  EXPECT_TRUE(is_delegated_enough(Delegation::kPartial, Delegation::kPartial));
  EXPECT_FALSE(is_delegated_enough(Delegation::kNone, Delegation::kPartial));
  EXPECT_FALSE(is_delegated_enough(Delegation::kUnknown, Delegation::kPartial));
  EXPECT_TRUE(is_delegated_enough(Delegation::kUnknown, Delegation::kNone));
}

TEST(CaseVerdict, DelegationIsFullWhereNothingIsLeft) {
  EXPECT_EQ(delegation_from(2, 0), Delegation::kFull);
  EXPECT_EQ(delegation_from(0, 0), Delegation::kFull);
  EXPECT_EQ(delegation_from(0, 1), Delegation::kNone);
  EXPECT_EQ(delegation_from(3, 1), Delegation::kPartial);
}

}  // namespace
}  // namespace assay
