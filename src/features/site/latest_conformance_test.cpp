#include "features/site/latest_conformance.h"

#include "features/site/index_rows.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace assay::site {
namespace {

TEST(LatestConformance, AWholeRunOfTheFullTierEndsTheSearch) {
  ConformCover cover;
  EXPECT_TRUE(cover.take("quick", "", false)) << "chosen cases";
  EXPECT_TRUE(cover.take("quick", "", true));
  EXPECT_FALSE(cover.take("quick", "", true));
  EXPECT_FALSE(cover.is_complete());
  EXPECT_TRUE(cover.take("full", "", true));
  EXPECT_TRUE(cover.is_complete());
  EXPECT_FALSE(cover.take("full", "", false));
}

TEST(LatestConformance, ShardsAreWholeOnceEachWasThereTwice) {
  ConformCover cover;
  EXPECT_TRUE(cover.take("full", "1/2", true)) << "tonight's first";
  EXPECT_TRUE(cover.take("full", "2/2", true));
  EXPECT_TRUE(cover.take("full", "1/2", true));
  EXPECT_FALSE(cover.is_complete());
  EXPECT_TRUE(cover.take("full", "1/4", true)) << "another sharing";
  EXPECT_TRUE(cover.take("full", "2/2", true));
  EXPECT_TRUE(cover.is_complete());
}

TEST(LatestConformance, AShardThatWasStoppedIsNotWhole) {
  ConformCover cover;
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(cover.take("full", "1/1", false));
  }
  EXPECT_FALSE(cover.is_complete());
}

TEST(LatestConformance, JoinsTheShardsOfANight) {
  std::vector<ConformRow> rows;
  for (const auto* name : {"a", "b", "c"}) {
    rows.push_back({.run = std::string("run-") + name,
                    .verdicts = {{name, "pass"}},
                    .operators = {{name, "aten." + std::string(name)}}});
  }
  const auto latest = latest_from_runs(rows);
  EXPECT_EQ(latest.verdicts.size(), 3U);
  EXPECT_EQ(latest.operators.at("c"), "aten.c");
  EXPECT_EQ(latest.counts.at("pass"), 3);
  ASSERT_EQ(latest.sources.size(), 3U);
  EXPECT_EQ(latest.sources.front().run, "run-a");
  EXPECT_EQ(latest.earlier.size(), 2U);
}

TEST(LatestConformance, DrawnCasesAreASettingOfTheirOwn) {
  EXPECT_NE(setting_of({.suite = "operators", .tier = "fuzz"}),
            setting_of({.suite = "operators", .tier = "quick"}));
  EXPECT_EQ(setting_of({.suite = "operators", .tier = "full"}),
            setting_of({.suite = "operators", .tier = "quick"}));
}

}  // namespace
}  // namespace assay::site
