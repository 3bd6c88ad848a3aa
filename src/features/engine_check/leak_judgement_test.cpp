#include "features/engine_check/leak_judgement.h"

#include "features/engine_check/checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "assay/record/summary.h"

namespace assay {
namespace {

using testing::AllOf;
using testing::HasSubstr;

LeakFinding leak_finding(LeakVerdict verdict, const std::string& text) {
  return {.cycle = "load", .source = "malloc", .verdict = verdict, .text = text};
}

const LeakFinding kLeaks = leak_finding(LeakVerdict::kLeak, "leaks 309 bytes a load");
const LeakFinding kLeaksMore = leak_finding(LeakVerdict::kLeak, "leaks 311 bytes a load");
const LeakFinding kClean = leak_finding(LeakVerdict::kNone, "no leak larger than 0 bytes a load");
const LeakFinding kUnclear = leak_finding(LeakVerdict::kCannotTell, "cannot tell whether it leaks");

Found judged(const std::vector<LeakFinding>& processes) {
  return judge_leaks(processes).value_or(failed("another process is needed"));
}

TEST(JudgeLeaks, IsDoneWithOneProcessThatShowsNone) {
  EXPECT_EQ(judged({kClean}).verdict, CheckVerdict::kPass);
  EXPECT_EQ(judged({kUnclear}).verdict, CheckVerdict::kSkipped);
}

TEST(JudgeLeaks, FailsOnlyWhereASecondProcessShowsTheLeakAgain) {
  EXPECT_FALSE(judge_leaks(std::vector{kLeaks})) << "one process proves nothing";
  const auto found = judged({kLeaks, kLeaksMore});
  EXPECT_EQ(found.verdict, CheckVerdict::kFail);
  EXPECT_THAT(found.text, AllOf(HasSubstr(kLeaks.text), HasSubstr(kLeaksMore.text)));
}

TEST(JudgeLeaks, CannotTellWhereTwoProcessesContradictEachOther) {
  for (const auto& second : {kClean, kUnclear}) {
    const auto found = judged({kLeaks, second});
    EXPECT_EQ(found.verdict, CheckVerdict::kSkipped);
    EXPECT_THAT(found.text, AllOf(HasSubstr("cannot tell"), HasSubstr(kLeaks.text),
                                  HasSubstr(second.text), HasSubstr("--loads")));
  }
}

}  // namespace
}  // namespace assay
