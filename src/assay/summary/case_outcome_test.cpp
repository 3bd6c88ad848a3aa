#include "assay/summary/case_outcome.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <string>

#include "assay/record/axes.h"
#include "assay/record/run.h"
#include "assay/record/summary.h"
#include "assay/record/unfinished.h"
#include "assay/summary/case_rows.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Attempt ended(Outcome outcome, const std::string& text = {}) {
  return {.is_finished = true, .outcome = outcome, .reason_code = "told", .text = text};
}

CaseSummary decided(const std::map<Pass, Attempt>& attempts) {
  CaseRows rows{.attempts = attempts};
  for (const auto& [pass, attempt] : attempts) {
    rows.launches[pass] = {};
  }
  CaseSummary summary;
  decide_outcome(rows, summary);
  return summary;
}

TEST(CaseOutcome, IsThatOfAFailureWhateverAnEarlierPassRefused) {
  const auto summary = decided({{Pass::kTiming, ended(Outcome::kSkipped, "the gate stayed shut")},
                                {Pass::kEvaluate, ended(Outcome::kCrashed, "it died")}});
  EXPECT_EQ(summary.outcome, Outcome::kCrashed);
  EXPECT_EQ(summary.text, "it died");
  EXPECT_THAT(summary.notes,
              ElementsAre("the evaluate pass did not complete",
                          "the timing pass did not complete: skipped: the gate stayed shut"));
}

TEST(CaseOutcome, IsUnfinishedWhereAPassHasNoEnd) {
  const auto summary = decided({{Pass::kTiming, {.text = "this case did not finish: disk full"}},
                                {Pass::kEvaluate, ended(Outcome::kCompleted)},
                                {Pass::kProfile, ended(Outcome::kUnsupported, "no profiler")}});
  EXPECT_TRUE(is_unfinished(summary));
  EXPECT_EQ(summary.text, "this case did not finish: disk full; resume with assay run --resume");
  EXPECT_THAT(summary.notes,
              ElementsAre("the profile pass did not complete: unsupported: no profiler"));
}

TEST(CaseOutcome, IsUnfinishedWithoutAnyAttempt) {
  const auto summary = decided({});
  EXPECT_TRUE(is_unfinished(summary));
  EXPECT_THAT(summary.text, HasSubstr("before this case was begun; resume with assay run"));
}

TEST(CaseOutcome, TellsARefusalOnce) {
  const auto summary = decided({{Pass::kTiming, ended(Outcome::kSkipped, "no build")},
                                {Pass::kEvaluate, ended(Outcome::kSkipped, "no build")}});
  EXPECT_EQ(summary.outcome, Outcome::kSkipped);
  EXPECT_THAT(summary.notes, ElementsAre());
}

}  // namespace
}  // namespace assay
