#include "assay/record/case_id.h"

#include <gtest/gtest.h>
#include <set>
#include <string>

namespace assay {
namespace {

CaseId on(const std::string& build, const std::string& device = "local") {
  return {.case_key = "key", .engine_build = build, .device = device};
}

TEST(MatchedIds, TakeTheOnlyBuildOfEachRunForBeforeAndAfter) {
  const MatchedIds ids({on("toy@1")}, {on("toy@2")});
  EXPECT_EQ(ids.shared(on("toy@1")), ids.shared(on("toy@2")));
}

TEST(MatchedIds, MatchBuildsByNameWhereEitherRunHasSeveral) {
  const std::set<CaseId> several = {on("toy@1"), on("toy@2")};
  const std::set<CaseId> one = {on("toy@2")};
  for (const auto& ids : {MatchedIds(several, one), MatchedIds(one, several)}) {
    EXPECT_EQ(ids.shared(on("toy@2")), on("toy@2", ""));
    EXPECT_NE(ids.shared(on("toy@1")), ids.shared(on("toy@2")));
  }
}

TEST(MatchedIds, MatchDevicesApartFromBuilds) {
  const MatchedIds ids({on("toy@1", "pi4"), on("toy@1", "pi5")}, {on("toy@2", "pi5")});
  EXPECT_EQ(ids.shared(on("toy@1", "pi5")), ids.shared(on("toy@2", "pi5")));
  EXPECT_NE(ids.shared(on("toy@1", "pi4")), ids.shared(on("toy@2", "pi5")));
}

TEST(MatchedIds, LookAtEachCaseByItself) {
  const CaseId other{.case_key = "other", .engine_build = "toy@1", .device = "local"};
  const MatchedIds ids({on("toy@1"), on("toy@2"), other}, {other});
  EXPECT_TRUE(ids.shared(other).engine_build.empty());
  EXPECT_EQ(ids.shared(on("toy@1")).engine_build, "toy@1");
}

}  // namespace
}  // namespace assay
