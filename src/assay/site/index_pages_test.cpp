// Pages that are made from the index alone.
#include <cstdint>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <string>

#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/record/summary.h"
#include "assay/site/api.h"
#include "assay/site/index_rows.h"
#include "assay/site/page.h"
#include "assay/site/page_parts.h"
#include "assay/site/pages.h"
#include "assay/site/run_index.h"
#include "assay/site/testing/site_fixture.h"

namespace assay::site {
namespace {

using testing::HasSubstr;
using testing::Not;

class IndexPages : public SiteTest {
 protected:
  RunRows rows_of_case(const std::string& run, std::int64_t started) {
    CaseRow cell{.run = run, .started_unix_ns = started, .model_ref = "net", .machine = "m"};
    cell.summary.case_key = "key";
    cell.summary.outcome = Outcome::kCompleted;
    cell.summary.verdict = Verdict::kPass;
    return {.run = {.id = run, .started_unix_ns = started}, .cases = {cell}};
  }

  Result<Page> page_of(MakePage make, const std::string& path, const std::string& name = {},
                       const std::map<std::string, std::string>& query = {}) {
    return make({.index = index_, .open_store = {}}, {.path = path, .query = query}, name);
  }

  RunIndex index_ = RunIndex::open(file("pages.db")).value();
};

TEST_F(IndexPages, AModelShowsTheRunOfATimeThatItsNewestRunDidNotMeasure) {
  auto bench = rows_of_case("bench-run", 1'000'000'000'000'000'000);
  bench.cases.front().summary.metrics["steady_ns"] = {.value = 12e6};
  auto eval = rows_of_case("eval-run", 1'100'000'000'000'000'000);
  eval.cases.front().summary.metrics["sqnr_db"] = {.value = 41};
  ASSERT_TRUE(index_.put(bench, "s"));
  ASSERT_TRUE(index_.put(eval, "s"));
  const auto path = model_path("net");
  const auto name = path.substr(7, path.find('.') - 7);
  const auto page = page_of(make_model_page, path, name).value().body;
  const auto steady = page.substr(page.find("data-label=\"steady\""), 300);
  EXPECT_THAT(steady, HasSubstr("12"));
  EXPECT_THAT(steady, HasSubstr("runs/bench-run.html"));
  EXPECT_THAT(steady, HasSubstr("2001-09-09"));
  const auto accuracy = page.substr(page.find("data-label=\"accuracy\""), 200);
  EXPECT_THAT(accuracy, HasSubstr("41"));
  EXPECT_THAT(accuracy, Not(HasSubstr("eval-run"))) << "it is the row's own run";
  const auto api = page_of(make_api_model, "api/models/" + name, name).value().body;
  EXPECT_THAT(api, HasSubstr("\"times\":{\"outcome\":\"completed\",\"run\":\"bench-run\""));
}

TEST_F(IndexPages, ACaseIsFoundWhereNoneOfItsResultsIsAskedFor) {
  ASSERT_TRUE(index_.put(rows_of_case("r", 1), "s"));
  const auto none = page_of(make_api_case, "api/cases/key", "key", {{"limit", "0"}});
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_THAT(none->body, HasSubstr("\"results\":[]"));
  EXPECT_FALSE(page_of(make_api_case, "api/cases/other", "other"));
}

TEST_F(IndexPages, OperatorsThatFailedAreNotShownAsRefused) {
  const auto cell_of = [this](const std::string& verdict) {
    EXPECT_TRUE(index_.put({.run = {.id = "r"},
                            .conformance = {{.run = "r",
                                             .suite = "operators",
                                             .tier = "quick",
                                             .is_whole = true,
                                             .counts = {{verdict, 1}},
                                             .verdicts = {{"a", verdict}},
                                             .operators = {{"a", "aten.a"}}}}},
                           "s"));
    const auto page = page_of(make_conformance_page, "conformance.html").value().body;
    const auto at = page.find("0 of 1", page.find("class=\"matrix\""));
    return page.substr(at - 20, 20);
  };
  EXPECT_THAT(cell_of("unsupported"), HasSubstr("\"refused\""));
  EXPECT_THAT(cell_of("aot_error"), HasSubstr("\"none\""));
  EXPECT_THAT(cell_of("crashed"), HasSubstr("\"none\""));
  EXPECT_THAT(cell_of("harness_error"), HasSubstr("\"some\"")) << "nothing is known";
}

}  // namespace
}  // namespace assay::site
