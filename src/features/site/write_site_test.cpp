#include "features/site/write_site.h"

#include "features/site/site.h"
#include "features/site/testing/site_fixture.h"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/store/result_store.h"
#include "assay/store/testing/sample_records.h"

namespace assay::site {
namespace {

class WriteSite : public SiteTest {
 protected:
  [[nodiscard]] Result<WrittenSite> write(const std::function<bool()>& goes_on = [] {
    return true;
  }) const {
    const auto site = open_site(/*is_static=*/true);
    return write_site(*site, file("pages"), [&](const SiteProgress&) { return goes_on(); });
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

TEST_F(WriteSite, KeepsTheEarlierSiteWhereItIsStopped) {
  ASSERT_TRUE(write().has_value());
  std::ofstream(file("pages/runs/earlier.html")) << "old";
  for (int most = 0; most < 4; ++most) {  // Before the first page, and after some.
    int asked = 0;
    const auto stopped = write([&] { return asked++ < most; });
    ASSERT_TRUE(stopped.has_value()) << stopped.error().message;
    EXPECT_TRUE(stopped->is_stopped);
    EXPECT_EQ(read_file(file("pages/runs/earlier.html")).value(), "old");
    EXPECT_TRUE(std::filesystem::exists(file("pages/index.html")));
    EXPECT_FALSE(std::filesystem::exists(file("pages/.assay-site-new")));
  }
}

TEST_F(WriteSite, WritesNoPartOfTheRuns) {
  const auto site = Site::open({.open_store =
                                    [path = file("results.db")] {
                                      return open_sqlite_store(path, StoreAccess::kRead);
                                    },
                                .index_file = file("part.db"),
                                .is_static = true})
                        .value();
  int asked = 0;
  const auto stopped =
      write_site(*site, file("pages"), [&](const SiteProgress&) { return asked++ < 1; });
  EXPECT_TRUE(stopped.value().is_stopped);
  EXPECT_FALSE(std::filesystem::exists(file("pages/index.html")));
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
  SampleRun many;
  {
    const auto store = open_sqlite_store(file("results.db")).value();
    many = add_sample_run(*store);
    for (int i = 1; i <= 9; ++i) {
      auto cell = many.cell;
      cell.model.ref = fmt::format("net_{}.onnx", i);
      cell.recipe.name = fmt::format("recipe_{}", i);
      ASSERT_TRUE(store->add_case(many.run.id, cell));
      auto attempt = many.attempt;
      attempt.id = make_id();
      attempt.case_key = case_key(cell);
      attempt.is_finished = true;
      attempt.outcome = Outcome::kCompleted;
      ASSERT_TRUE(store->put_attempt(attempt));
    }
  }
  ASSERT_TRUE(write().has_value());
  const auto page = read_file(file("pages/search.html")).value();
  EXPECT_THAT(page, testing::HasSubstr("data-search"));
  EXPECT_THAT(page, testing::HasSubstr("runs/" + run_ + ".html"));
  const auto entry_at = page.find("runs/" + many.run.id + ".html");
  ASSERT_NE(entry_at, std::string::npos);
  const auto entry = page.substr(entry_at, page.find("</li>", entry_at) - entry_at);
  EXPECT_THAT(entry, testing::AllOf(testing::HasSubstr("net_9"), testing::HasSubstr("recipe_9")))
      << "a script finds the words of an entry alone";
}

}  // namespace
}  // namespace assay::site
