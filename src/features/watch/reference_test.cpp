#include "features/watch/reference.h"

#include <cstdint>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace assay::watch {
namespace {

using Kind = ReferencePolicy::Kind;

constexpr std::int64_t kDayNs = std::int64_t{24} * 3600 * 1'000'000'000;

/// Revisions "r0" … that were committed on these days; day 4 of 1970 was the first Monday.
std::vector<Revision> on_days(const std::vector<int>& days) {
  std::vector<Revision> revisions;
  for (const int day : days) {
    const auto n = static_cast<std::int64_t>(revisions.size());
    revisions.push_back(
        {.hash = fmt::format("r{}", n), .position = n + 1, .committed_unix_ns = day * kDayNs});
  }
  return revisions;
}

using Index = std::optional<std::size_t>;

TEST(Reference, IsTheFirstOfTheWeek) {
  // Sunday, Monday, Wednesday, Sunday, Monday, Tuesday.
  const auto revisions = on_days({3, 4, 6, 10, 11, 12});
  const ReferencePolicy week{.kind = Kind::kWeek};
  EXPECT_EQ(find_reference(week, revisions, {}, 2), Index(1));
  EXPECT_EQ(find_reference(week, revisions, {}, 3), Index(1));
  EXPECT_EQ(find_reference(week, revisions, {}, 5), Index(4));
}

TEST(Reference, JoinsTheWeeks) {
  const auto revisions = on_days({4, 5, 11, 12});
  const ReferencePolicy week{.kind = Kind::kWeek};
  EXPECT_EQ(find_reference(week, revisions, {}, 2), Index(0));
  EXPECT_EQ(find_reference(week, revisions, {}, 0), Index());
}

TEST(Reference, OfAWeekIsNoneThatFailed) {
  const auto revisions = on_days({4, 5, 6, 7});
  const ReferencePolicy week{.kind = Kind::kWeek};
  EXPECT_EQ(find_reference(week, revisions, {"r0"}, 3), Index(1));
  EXPECT_EQ(find_reference(week, revisions, {"r0"}, 1), Index());
}

TEST(Reference, NeverLiesAfterTheRevision) {
  // The clock of the third one's author is a week behind.
  const auto revisions = on_days({4, 11, 5, 12});
  const ReferencePolicy week{.kind = Kind::kWeek};
  EXPECT_EQ(find_reference(week, revisions, {}, 2), Index(0));
  EXPECT_EQ(find_reference(week, revisions, {}, 3), Index(0));
}

TEST(Reference, IsTheParentThatWorks) {
  const auto revisions = on_days({4, 5, 6});
  const ReferencePolicy parent{.kind = Kind::kParent};
  EXPECT_EQ(find_reference(parent, revisions, {}, 2), Index(1));
  EXPECT_EQ(find_reference(parent, revisions, {"r1"}, 2), Index(0));
  EXPECT_EQ(find_reference(parent, revisions, {}, 0), Index());
}

TEST(Reference, IsPinned) {
  const auto revisions = on_days({4, 5, 6});
  const auto policy = reference_policy_from_text("pinned:r1").value();
  EXPECT_EQ(find_reference(policy, revisions, {}, 2), Index(1));
  EXPECT_EQ(find_reference(policy, revisions, {}, 0), Index(1));
  EXPECT_EQ(find_reference(policy, revisions, {}, 1), Index());
}

TEST(Reference, IsRefusedInOtherWords) {
  EXPECT_FALSE(reference_policy_from_text("pinned:").has_value());
  EXPECT_FALSE(reference_policy_from_text("month").has_value());
  EXPECT_EQ(reference_policy_from_text("none")->kind, Kind::kNone);
}

}  // namespace
}  // namespace assay::watch
