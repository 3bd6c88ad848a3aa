#include "features/site/index_rows.h"
#include "features/site/page.h"
#include "features/site/pages.h"
#include "features/site/run_index.h"
#include "features/site/testing/site_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "assay/record/comparison.h"
#include "assay/record/metric.h"

namespace assay::site {
namespace {

using testing::HasSubstr;
using testing::Not;

class ComparisonsPage : public SiteTest {
 protected:
  /// The page of a run that compared by this metric alone, with the same told of its canary.
  [[nodiscard]] std::string page_with(const PairEstimate& estimate) const {
    Comparison comparison{.id = "c", .run = "r", .verdict = estimate.verdict};
    comparison.metrics = {estimate};
    comparison.canary = estimate;
    auto index = RunIndex::open(file("index.db")).value();
    EXPECT_TRUE(index.put(
        {.run = {.id = "r"}, .comparisons = {{.run = "r", .comparison = comparison}}}, "stamp"));
    const auto page =
        make_comparisons_page({.index = index, .open_store = {}}, {.path = "comparisons.html"}, "");
    EXPECT_TRUE(page) << page.error().message;
    return page ? page->body : "";
  }
};

TEST_F(ComparisonsPage, TellsAChangeInTheUnitOfItsMetric) {
  const auto rate = page_with({.metric = "program:rate",
                               .ratio = -0.125,
                               .verdict = ComparisonVerdict::kSlower,
                               .unit = "1/s",
                               .better = Better::kHigher});
  EXPECT_THAT(rate, HasSubstr("<b>-12.5 %</b>"));
  EXPECT_THAT(rate, Not(HasSubstr("less is faster")));
  const auto time = page_with({.metric = "steady_ns", .ratio = 0.125});
  EXPECT_THAT(time, HasSubstr("<b>+12.5 % time</b>"));
  const auto count = page_with({.metric = "program:misses",
                                .ratio = 3,
                                .unit = "count",
                                .better = Better::kNone,
                                .scale = MetricScale::kDifference});
  EXPECT_THAT(count, HasSubstr("<b>+3.00 count</b>"));
}

TEST_F(ComparisonsPage, ACanaryThatChangedInAnyDirectionIsNoPass) {
  for (const auto verdict :
       {ComparisonVerdict::kFaster, ComparisonVerdict::kSlower, ComparisonVerdict::kChanged}) {
    const auto page = page_with({.metric = "program:rate", .verdict = verdict, .unit = "1/s"});
    const auto canary = page.substr(page.find("data-label=\"canary\""), 200);
    EXPECT_THAT(canary, HasSubstr("pill fail"));
  }
}

TEST_F(ComparisonsPage, ACanaryThatCannotTellIsNeitherPassNorFailure) {
  const auto page = page_with({.metric = "steady_ns", .verdict = ComparisonVerdict::kInconclusive});
  const auto canary = page.substr(page.find("data-label=\"canary\""), 200);
  EXPECT_THAT(canary, HasSubstr("pill inconclusive"));
}

}  // namespace
}  // namespace assay::site
