#include "assay/site/site.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/site/testing/site_fixture.h"
#include "assay/store/result_store.h"

namespace assay::site {
namespace {

using testing::HasSubstr;
using testing::Not;

class SitePages : public SiteTest {};

TEST_F(SitePages, ShowsEachRunWithALinkToItsPage) {
  const auto site = open_site();
  EXPECT_THAT(body(*site, "index.html"), HasSubstr("href=\"runs/" + run_ + ".html\""));
  EXPECT_EQ(body(*site, ""), body(*site, "index.html"));
  EXPECT_THAT(body(*site, "runs/" + run_ + ".html"), HasSubstr("src=\"../assets/report.js\""));
}

TEST_F(SitePages, LeadsFromARunToItsCaseAndFromThereToTheModel) {
  const auto site = open_site();
  const auto run = body(*site, "runs/" + run_ + ".html");
  const auto at = run.find("href=\"../cases/");
  ASSERT_NE(at, std::string::npos);
  const auto path = run.substr(at + 9, run.find('"', at + 9) - at - 9);
  const auto page = body(*site, path);
  EXPECT_THAT(page, HasSubstr("data-chart=\"over-time\""));
  EXPECT_THAT(page, HasSubstr("../models/"));
  const auto model_at = page.find("../models/");
  const auto model =
      body(*site, page.substr(model_at + 3, page.find('"', model_at) - model_at - 3));
  EXPECT_THAT(model, HasSubstr("executorch/xnnpack-int8"));
  EXPECT_THAT(body(*site, "models.html"), HasSubstr("torchvision:mobilenet_v2"));
}

TEST_F(SitePages, AreThereWithoutAnyRun) {
  const auto store = open_sqlite_store(file("results.db")).value();
  ASSERT_TRUE(store->remove_run(run_).has_value());
  const auto site = open_site();
  for (const auto* path : {"index.html", "models.html", "conformance.html", "comparisons.html",
                           "incidents.html", "devices.html", "search.html"}) {
    EXPECT_THAT(body(*site, path), HasSubstr("</html>")) << path;
  }
  EXPECT_THAT(body(*site, "index.html"), HasSubstr("no run yet"));
}

TEST_F(SitePages, FindsWhatIsSearchedFor) {
  const auto site = open_site();
  const auto hits = site->render({.path = "search.html", .query = {{"q", "NIGHT mobilenet"}}});
  EXPECT_THAT(hits.value().body, HasSubstr("runs/" + run_ + ".html"));
  const auto none = site->render({.path = "search.html", .query = {{"q", "absent"}}});
  EXPECT_THAT(none.value().body, HasSubstr("0 hits"));
  const auto hostile = site->render({.path = "search.html", .query = {{"q", "<b>\"x"}}});
  EXPECT_THAT(hostile.value().body, Not(HasSubstr("<b>\"")));
}

TEST_F(SitePages, AnswersNothingOutside) {
  const auto site = open_site();
  for (const auto* path :
       {"../etc/passwd", "runs/../index.html", "runs/..%2f", "assets/../site.cpp", "assets/",
        "runs/.html", "index-0.html", "index-1.html", "index-99999.html", "index-x.html",
        "cases/nothing.html", "models/nothing.html", "history/nothing.html", "api", "api/x",
        "runs/latest.html", "results.db", ".assay-site"}) {
    const auto page = site->render({.path = path});
    ASSERT_FALSE(page.has_value()) << path;
    EXPECT_EQ(page.error().code, ErrorCode::kNotFound) << path << page.error().message;
  }
}

TEST_F(SitePages, EscapesWhatALabelSays) {
  const auto store = open_sqlite_store(file("results.db")).value();
  ASSERT_TRUE(store->tag_run(run_, {{"<img src=x>", "</script><script>alert(1)</script>"}}, {})
                  .has_value());
  const auto site = open_site();
  for (const auto& path : {std::string("index.html"), "runs/" + run_ + ".html"}) {
    const auto page = body(*site, path);
    EXPECT_THAT(page, Not(HasSubstr("<script>alert"))) << path;
    EXPECT_THAT(page, Not(HasSubstr("<img"))) << path;
  }
}

TEST_F(SitePages, GivesTheDocumentsOfTheCommandLine) {
  const auto site = open_site();
  const auto runs = parse_json(body(*site, "api/runs"), "runs").value();
  EXPECT_EQ(runs["schema"], "assay/runs/1");
  EXPECT_EQ(runs["runs"][0]["id"], run_);
  EXPECT_EQ(runs["runs"][0]["launches"], 1);
  const auto report = parse_json(body(*site, "api/runs/" + run_ + "/report"), "report").value();
  EXPECT_EQ(report["schema"], "assay/report/1");
  EXPECT_EQ(report["run"]["id"], run_);
  EXPECT_EQ(parse_json(body(*site, "api/status"), "status").value()["indexed"], 1);
  EXPECT_TRUE(parse_json(body(*site, "api/openapi.json"), "description").has_value());
}

TEST_F(SitePages, RefusesParametersThatAreNoNumbers) {
  const auto site = open_site();
  for (const auto* limit : {"-1", "x", "1001", "1e3", ""}) {
    const auto page = site->render({.path = "api/runs", .query = {{"limit", limit}}});
    ASSERT_FALSE(page.has_value()) << limit;
    EXPECT_EQ(page.error().code, ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace assay::site
