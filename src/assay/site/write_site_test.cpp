#include "assay/site/write_site.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/site/testing/site_fixture.h"

namespace assay::site {
namespace {

class WriteSite : public SiteTest {
 protected:
  [[nodiscard]] Result<WrittenSite> write() const {
    const auto site = open_site(/*is_static=*/true);
    return write_site(*site, file("pages"), [](std::size_t) {});
  }
};

TEST_F(WriteSite, WritesEveryPageThatALinkLeadsTo) {
  const auto written = write().value();
  EXPECT_EQ(written.unreadable, 0U);
  for (const auto& path :
       {std::string("index.html"), "runs/" + run_ + ".html", std::string("assets/report.css"),
        std::string("assets/site.js"), std::string("search.html")}) {
    EXPECT_TRUE(std::filesystem::exists(file("pages") / path)) << path;
  }
  EXPECT_FALSE(std::filesystem::is_empty(file("pages/cases")));
  EXPECT_FALSE(std::filesystem::is_empty(file("pages/models")));
}

TEST_F(WriteSite, ReplacesAnEarlierSite) {
  ASSERT_TRUE(write().has_value());
  std::ofstream(file("pages/runs/gone.html")) << "old";
  ASSERT_TRUE(write().has_value());
  EXPECT_FALSE(std::filesystem::exists(file("pages/runs/gone.html")));
}

TEST_F(WriteSite, LeavesAFolderOfOtherFilesAlone) {
  std::filesystem::create_directory(file("pages"));
  std::ofstream(file("pages/index.html")) << "mine";
  const auto written = write();
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(read_file(file("pages/index.html")).value(), "mine");
}

TEST_F(WriteSite, ListsEverythingForTheSearch) {
  ASSERT_TRUE(write().has_value());
  const auto page = read_file(file("pages/search.html")).value();
  EXPECT_THAT(page, testing::HasSubstr("data-search"));
  EXPECT_THAT(page, testing::HasSubstr("runs/" + run_ + ".html"));
}

}  // namespace
}  // namespace assay::site
