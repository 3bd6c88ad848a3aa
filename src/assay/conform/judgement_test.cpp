#include "assay/conform/judgement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <utility>

#include "assay/record/axes.h"
#include "assay/record/conformance.h"

namespace assay {
namespace {

using testing::StartsWith;

Judgement judgement_of(ConformVerdict verdict, Stage stage, std::string text = "") {
  return judge_refusal({.verdict = verdict, .stage = stage, .text = std::move(text)});
}

TEST(Refusal, PassesWhereTheFirstSamplesRanAndAnErrorFollowed) {
  const auto refused = judgement_of(ConformVerdict::kRunError, Stage::kSteady, "index 5");
  EXPECT_EQ(refused.verdict, ConformVerdict::kPass);
  EXPECT_EQ(refused.reason_code, "refused");
  EXPECT_EQ(refused.text, "index 5");
}

TEST(Refusal, OfTheFirstSamplesIsAnErrorAsEver) {
  EXPECT_EQ(judgement_of(ConformVerdict::kRunError, Stage::kFirst).verdict,
            ConformVerdict::kRunError);
  EXPECT_EQ(judgement_of(ConformVerdict::kAotError, Stage::kLower).verdict,
            ConformVerdict::kAotError);
}

TEST(Refusal, IsNoExcuseForADeadProcess) {
  EXPECT_EQ(judgement_of(ConformVerdict::kCrashed, Stage::kSteady).verdict,
            ConformVerdict::kCrashed);
}

TEST(Refusal, IsMissedByAProgramThatAnswers) {
  const auto taken = judgement_of(ConformVerdict::kFailNumeric, Stage::kDone, "3 samples came out");
  EXPECT_EQ(taken.verdict, ConformVerdict::kFailNumeric);
  EXPECT_THAT(taken.text, StartsWith("it refused nothing: 3 samples"));
  EXPECT_EQ(judgement_of(ConformVerdict::kPass, Stage::kDone).verdict, ConformVerdict::kPass);
}

}  // namespace
}  // namespace assay
