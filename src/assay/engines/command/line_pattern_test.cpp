#include "assay/engines/command/line_pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"

namespace assay::command {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> first_groups(const std::string& pattern, std::string_view printed) {
  std::vector<std::string> found;
  EXPECT_TRUE(
      LinePattern::from_text("p", pattern)
          ->visit_matches(printed, [&found](const auto& groups, const auto& /*beside*/) -> Status {
            found.emplace_back(groups(1));
            return {};
          }));
  return found;
}

TEST(LinePattern, FindsEveryMatchOfEveryLine) {
  EXPECT_THAT(first_groups("t=([0-9]+)", "t=1 t=2\r\nno\nt=3"), ElementsAre("1", "2", "3"));
  EXPECT_THAT(first_groups("a(\\s)b", "a\nb"), IsEmpty()) << "a match lies in one line";
}

TEST(LinePattern, TellsWhatStandsBesideAMatch) {
  std::vector<std::string> found;
  const auto pattern = LinePattern::from_text("p", "([0-9]+),").value();
  EXPECT_TRUE(
      pattern.visit_matches("a 1,2,b", [&](const auto& /*groups*/, const auto& beside) -> Status {
        found.push_back(std::string(beside.before) + "|" + std::string(beside.after));
        return {};
      }));
  EXPECT_THAT(found, ElementsAre("a |2,b", "|b"));
}

TEST(LinePattern, KnowsGroupsByNameWhereverTheyStand) {
  const auto pattern =
      LinePattern::from_text("p", "[(](\\(?)(?:x)(?<time>[0-9]+) ms (?<name>\\w+)").value();
  EXPECT_EQ(pattern.find_group("time"), 2U);
  EXPECT_EQ(pattern.find_group("name"), 3U);
  EXPECT_FALSE(pattern.find_group("unit"));
  EXPECT_EQ(pattern.group_count(), 3U);
}

TEST(LinePattern, IsAbsentWithoutAText) {
  const auto pattern = LinePattern::from_text("p", "").value();
  EXPECT_TRUE(pattern.is_absent());
  EXPECT_THAT(first_groups("", "anything"), IsEmpty());
}

TEST(LinePattern, NamesTheKeyOfABadExpression) {
  for (const auto* bad : {"(", "([0-9]+)\\1", "no group", "(?=ahead)"}) {
    const auto pattern = LinePattern::from_text("metrics.p99.pattern", bad);
    ASSERT_FALSE(pattern) << bad;
    EXPECT_EQ(pattern.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(pattern.error().message, HasSubstr("\"metrics.p99.pattern\"")) << bad;
  }
}

}  // namespace
}  // namespace assay::command
