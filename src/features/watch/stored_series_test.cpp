#include "features/watch/stored_series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <vector>

#include "assay/record/measured_series.h"

namespace assay::watch {
namespace {

std::string own_bytes(const std::string& revision) { return revision; }

MeasuredPoint point_of(const std::string& revision, const std::string& reference, double offset) {
  return {.revision = revision, .machine = "m", .reference = reference, .offset = offset};
}

TEST(JoinReferences, FollowsAReferenceToItsOwn) {
  std::vector<MeasuredPoint> points = {point_of("b", "a", 0.1), point_of("c", "b", 0.02),
                                       point_of("d", "c", 0.003)};
  join_references(points, own_bytes);
  for (const auto& point : points) {
    EXPECT_EQ(point.reference, "a");
  }
  EXPECT_DOUBLE_EQ(points[1].offset, 0.12);
  EXPECT_DOUBLE_EQ(points[2].offset, 0.123);
}

TEST(JoinReferences, MovesTheIntervalAlong) {
  std::vector<MeasuredPoint> points = {point_of("b", "a", 0.1), point_of("c", "b", 0.02)};
  points[1].low = 0.01;
  points[1].high = 0.03;
  join_references(points, own_bytes);
  EXPECT_DOUBLE_EQ(*points[1].low, 0.11);
  EXPECT_DOUBLE_EQ(*points[1].high, 0.13);
}

TEST(JoinReferences, PutsTheFirstReferenceAtItself) {
  std::vector<MeasuredPoint> points = {point_of("a", "", 14.5), point_of("b", "a", 0.1)};
  join_references(points, own_bytes);
  EXPECT_EQ(points[0].offset, 0);
  EXPECT_EQ(points[0].reference, points[1].reference);
}

TEST(JoinReferences, TakesEqualBytesForTheSameReference) {
  // "w", the first of a week, has the bytes of "b", which was measured together with "a".
  const auto bytes = [](const std::string& revision) { return revision == "w" ? "b" : revision; };
  std::vector<MeasuredPoint> points = {point_of("b", "a", 0.1), point_of("c", "w", 0.02)};
  join_references(points, bytes);
  EXPECT_EQ(points[1].reference, "a");
  EXPECT_DOUBLE_EQ(points[1].offset, 0.12);
}

TEST(JoinReferences, EndsWhereReferencesGoInACircle) {
  std::vector<MeasuredPoint> points = {point_of("a", "b", 0.1), point_of("b", "a", -0.1)};
  join_references(points, own_bytes);
  EXPECT_EQ(points.size(), 2U);
}

TEST(CombineLooks, JoinsThePointsOfAMachineWithThoseOfAnotherBetween) {
  std::vector<MeasuredPoint> points = {point_of("b", "a", 0.1), point_of("b", "a", 0.5),
                                       point_of("b", "a", 0.3), point_of("c", "a", 0.2)};
  points[1].machine = "other";
  combine_looks(points);
  ASSERT_EQ(points.size(), 3U);
  EXPECT_DOUBLE_EQ(points[0].offset, 0.2);
  EXPECT_EQ(points[1].machine, "other");
  EXPECT_EQ(points[2].revision, "c");
}

TEST(JoinReferences, KeepsMachinesApart) {
  std::vector<MeasuredPoint> points = {point_of("b", "a", 0.1), point_of("c", "b", 0.02)};
  points[1].machine = "other";
  join_references(points, own_bytes);
  EXPECT_EQ(points[1].reference, "b");
  EXPECT_EQ(points[1].offset, 0.02);
}

}  // namespace
}  // namespace assay::watch
