#include "features/engine_check/thread_check.h"

#include "features/engine_check/checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

namespace assay {
namespace {

using testing::HasSubstr;
using Tries = std::vector<ThreadCounts>;

TEST(JudgeThreads, PassesWhereNoPartHasMoreThanAsked) {
  const auto found = judge_threads(2, Tries{{2, 1, 2}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->verdict, CheckVerdict::kPass);
  EXPECT_EQ(found->text, "2 of 2");
}

TEST(JudgeThreads, FailsOnlyWhenEveryPartOfEveryTryHasMore) {
  EXPECT_FALSE(judge_threads(1, Tries{{2, 2, 2}})) << "one process proves nothing";
  EXPECT_FALSE(judge_threads(1, Tries{{2, 2, 2}, {2, 2, 2}}));
  const auto found = judge_threads(1, Tries{{2, 2, 2}, {2, 2, 2}, {2, 2, 2}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->verdict, CheckVerdict::kFail);
  EXPECT_EQ(found->text, "asked for 1 thread, 2 computed");
}

TEST(JudgeThreads, LetsATryThatTellsNothingNotSaveALiar) {
  const auto found = judge_threads(1, Tries{{}, {2, 2, 2}, {2, 2}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->verdict, CheckVerdict::kFail);
  EXPECT_EQ(judge_threads(1, Tries{{}, {}, {2, 2, 2}})->verdict, CheckVerdict::kSkipped);
}

TEST(JudgeThreads, PassesAfterAHelperThatWasBusyOnceInTheFirstProcess) {
  EXPECT_FALSE(judge_threads(1, Tries{{2, 1, 1}}));
  const auto found = judge_threads(1, Tries{{2, 1, 1}, {1, 1, 1}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->verdict, CheckVerdict::kPass);
}

TEST(JudgeThreads, CannotTellWhereTriesContradictEachOther) {
  for (const Tries& tries : {Tries{{2, 2, 2}, {1, 1, 1}}, Tries{{2, 2, 2}, {2, 1, 2}, {2, 2, 2}},
                             Tries{{2, 1, 1}, {1, 2, 1}, {1, 1, 2}}}) {
    const auto found = judge_threads(1, tries);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->verdict, CheckVerdict::kSkipped);
    EXPECT_THAT(found->text, HasSubstr("cannot tell: asked for 1 thread, counted in turn"));
  }
}

TEST(JudgeThreads, CannotTellWhereNothingIsCounted) {
  const auto found = judge_threads(1, Tries{{}, {}, {}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->verdict, CheckVerdict::kSkipped);
  EXPECT_THAT(found->text, HasSubstr("the kernel does not say"));
}

}  // namespace
}  // namespace assay
