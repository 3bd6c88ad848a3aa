// Pages that are made from the index alone.
#include "features/site/api.h"
#include "features/site/index_rows.h"
#include "features/site/page.h"
#include "features/site/page_parts.h"
#include "features/site/pages.h"
#include "features/site/run_index.h"
#include "features/site/testing/site_fixture.h"

#include <cmath>
#include <cstdint>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <string>

#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/record/metric.h"
#include "assay/record/summary.h"

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

/// A case of a network in the run of a day; its weights are the network.
CaseRow case_of_network(const std::string& weights, const std::string& recipe, double steady_ns,
                        double sqnr_db) {
  CaseRow cell{.run = weights, .started_unix_ns = weights == "old" ? 1 : 2, .model_ref = "net"};
  auto& summary = cell.summary;
  summary.case_key = weights + recipe;
  summary.model = "net";
  summary.recipe = recipe;
  summary.identity = {{"model", {{"weights", weights}}}};
  summary.outcome = Outcome::kCompleted;
  summary.accuracy = Accuracy::kPass;
  summary.accuracy_tables = {{.against = "float32", .accuracy = Accuracy::kPass}};
  summary.timing = Timing::kSteady;
  summary.metrics["steady_ns"] = {.value = steady_ns, .low = 0, .high = 2 * steady_ns, .count = 3};
  summary.metrics["sqnr_db"] = std::isinf(sqnr_db)
                                   ? Estimate{.special = make_metric("sqnr_db", sqnr_db).special}
                                   : Estimate{.value = sqnr_db};
  return cell;
}

TEST_F(IndexPages, AModelsAnswerIsOfTheWeightsThatWereMeasuredLast) {
  ASSERT_TRUE(index_.put(
      {.run = {.id = "old", .started_unix_ns = 1},
       .cases = {case_of_network("old", "fast", 1e6, 30), case_of_network("old", "slow", 2e6, 40)}},
      "s"));
  ASSERT_TRUE(index_.put({.run = {.id = "new", .started_unix_ns = 2},
                          .cases = {case_of_network("new", "small", 5e6, 30),
                                    case_of_network("new", "large", 9e6, HUGE_VAL)}},
                         "s"));
  const auto path = model_path("net");
  const auto page = page_of(make_model_page, path, path.substr(7, path.find('.') - 7)).value().body;
  const auto answer = page.substr(page.find("class=\"answer\""), 400);
  EXPECT_THAT(answer, HasSubstr("small"));
  EXPECT_THAT(answer, HasSubstr("1 earlier set stand"));
  const auto data = page.substr(page.find("assay-data"));
  EXPECT_THAT(data, HasSubstr(R"("title":"small")"));
  EXPECT_THAT(data, Not(HasSubstr(R"("title":"fast")")));
  EXPECT_THAT(data, HasSubstr(R"("accuracy":null)")) << "what is exact is a point, too";
  EXPECT_THAT(data, HasSubstr(R"("shown":"exact")"));
  EXPECT_THAT(data, Not(HasSubstr(R"("low":0)"))) << "0 has no place on a logarithmic axis";
}

TEST_F(IndexPages, AFleetIsCountedOverAllRunsAndAllThatWasLost) {
  for (const auto* run : {"r1", "r2"}) {
    RunRows rows{.run = {.id = run}};
    const std::int64_t last = rows.run.id == "r1" ? 2'000'000'000'000'000'000 : 1;
    rows.workers = {{.run = run,
                     .worker = "w",
                     .device = "pi",
                     .executions = 10,
                     .not_counted = 1,
                     .last_unix_ns = last}};
    rows.lost.assign(150, {.run = run, .lost = {.device = "pi"}});
    ASSERT_TRUE(index_.put(rows, "s"));
  }
  const auto uses = index_.worker_uses().value();
  ASSERT_EQ(uses.size(), 1U);
  EXPECT_EQ(uses.front().runs, 2);
  EXPECT_EQ(uses.front().executions, 20);
  EXPECT_EQ(uses.front().not_counted, 2);
  EXPECT_EQ(uses.front().last_run, "r1");
  EXPECT_EQ(uses.front().last_unix_ns, 2'000'000'000'000'000'000) << "all digits of it";
  const auto page = page_of(make_fleet_page, "fleet.html").value().body;
  EXPECT_THAT(page, HasSubstr("300 lost executions"));
  EXPECT_THAT(page, HasSubstr("data-label=\"lost\">300<"));
  EXPECT_THAT(page, HasSubstr("The newest 200 of 300 lost executions."));
}

TEST_F(IndexPages, ASearchSaysThatItShowsAPart) {
  for (int i = 0; i < 101; ++i) {
    ASSERT_TRUE(index_.put({.run = {.id = "run-" + std::to_string(i)}}, "s"));
  }
  const auto hits = page_of(make_search_page, "search.html", "", {{"q", "run"}}).value().body;
  EXPECT_THAT(hits, HasSubstr("the newest 100 hits for “run”; there are more"));
  const auto one = page_of(make_search_page, "search.html", "", {{"q", "run-100"}}).value().body;
  EXPECT_THAT(one, HasSubstr(">1 hit for “run-100”<"));
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
