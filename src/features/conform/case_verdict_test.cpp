#include "features/conform/case_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "assay/base/json.h"
#include "assay/record/axes.h"
#include "assay/record/conformance.h"

namespace assay {
namespace {

using testing::StartsWith;

CaseVerdict refused_verdict(ConformVerdict verdict, Stage stage, std::string text = "") {
  return verdict_on_refusal({.verdict = verdict, .stage = stage, .text = std::move(text)});
}

TEST(Refusal, PassesWhereTheFirstSamplesRanAndAnErrorFollowed) {
  const auto refused = refused_verdict(ConformVerdict::kRunError, Stage::kSteady, "index 5");
  EXPECT_EQ(refused.verdict, ConformVerdict::kPass);
  EXPECT_EQ(refused.reason_code, "refused");
  EXPECT_EQ(refused.text, "index 5");
}

TEST(Refusal, OfTheFirstSamplesIsAnErrorAsEver) {
  EXPECT_EQ(refused_verdict(ConformVerdict::kRunError, Stage::kFirst).verdict,
            ConformVerdict::kRunError);
  EXPECT_EQ(refused_verdict(ConformVerdict::kAotError, Stage::kLower).verdict,
            ConformVerdict::kAotError);
}

TEST(Refusal, IsNoExcuseForADeadProcess) {
  EXPECT_EQ(refused_verdict(ConformVerdict::kCrashed, Stage::kSteady).verdict,
            ConformVerdict::kCrashed);
}

TEST(Refusal, IsMissedByAProgramThatAnswers) {
  const auto taken =
      refused_verdict(ConformVerdict::kFailNumeric, Stage::kDone, "3 samples came out");
  EXPECT_EQ(taken.verdict, ConformVerdict::kFailNumeric);
  EXPECT_THAT(taken.text, StartsWith("it refused nothing: 3 samples"));
  EXPECT_EQ(refused_verdict(ConformVerdict::kPass, Stage::kDone).verdict, ConformVerdict::kPass);
}

TEST(JoinedVerdict, IsThatOfTheProcessThatEndedWhereTheToolchainWasTooSlowOnce) {
  const CaseVerdict slow{.verdict = ConformVerdict::kTimedOut, .stage = Stage::kQuantize};
  for (const auto verdict : {ConformVerdict::kPass, ConformVerdict::kFailNumeric}) {
    EXPECT_EQ(joined_verdict(slow, {.verdict = verdict}).verdict, verdict);
    EXPECT_EQ(joined_verdict({.verdict = verdict}, slow).verdict, verdict);
  }
  EXPECT_EQ(joined_verdict(slow, slow).verdict, ConformVerdict::kTimedOut);
  const CaseVerdict hung{.verdict = ConformVerdict::kTimedOut, .stage = Stage::kFirst};
  EXPECT_EQ(joined_verdict(hung, {.verdict = ConformVerdict::kPass}).verdict,
            ConformVerdict::kFailNondeterministic)
      << "a program that hangs at times is the backend's";
}

TEST(RuntimeFallback, IsHeldAgainstWhatTheProgramSays) {
  CaseVerdict verdict{.delegation = Delegation::kFull, .nodes_delegated = 3};
  correct_delegation(Json::parse(R"({"operators_left": {"Add": 2}, "operators_taken": 0})"),
                     verdict);
  EXPECT_EQ(verdict.delegation, Delegation::kNone);
  EXPECT_EQ(verdict.nodes_delegated, 0);
  EXPECT_EQ(verdict.nodes_not_delegated, 2);
  EXPECT_THAT(verdict.operators_left, testing::ElementsAre("Add"));
}

TEST(RuntimeFallback, ThatDidNotHappenChangesNothing) {
  CaseVerdict verdict{.delegation = Delegation::kFull, .nodes_delegated = 1};
  correct_delegation(Json(), verdict);
  correct_delegation(Json::parse(R"({"operators_left": {}, "operators_taken": 2})"), verdict);
  EXPECT_EQ(verdict.delegation, Delegation::kFull);
  EXPECT_EQ(verdict.nodes_delegated, 1);
}

TEST(RuntimeFallback, OfAJointProgramIsNotHeldAgainstEachPart) {
  const CaseVerdict before{.delegation = Delegation::kPartial,
                           .nodes_delegated = 2,
                           .nodes_not_delegated = 1,
                           .operators_left = {"aten.x"}};
  auto part = before;
  correct_delegation_of_part(Json::parse(R"({"operators_left": {"Add": 8}, "operators_taken": 8})"),
                             part);
  EXPECT_TRUE(part.needs_own_program) << "nobody knows of which parts";
  part = before;
  correct_delegation_of_part(Json::parse(R"({"operators_left": {}, "operators_taken": 16})"), part);
  EXPECT_EQ(part.nodes_delegated, 2);
  correct_delegation_of_part(
      Json::parse(R"({"operators_left": {"Add": 8, "Mul": 8}, "operators_taken": 0})"), part);
  EXPECT_FALSE(part.needs_own_program);
  EXPECT_EQ(part.delegation, Delegation::kNone);
  EXPECT_EQ(part.nodes_delegated, 0);
  EXPECT_EQ(part.nodes_not_delegated, 3) << "its own three, not all sixteen";
  EXPECT_THAT(part.operators_left, testing::ElementsAre("aten.x"));
}

}  // namespace
}  // namespace assay
