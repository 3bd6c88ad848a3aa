#include "assay/report/run_page_data.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/record/conformance.h"
#include "assay/record/summary.h"
#include "assay/report/bounded_document.h"
#include "assay/report/conformance_formats.h"
#include "assay/report/document.h"
#include "assay/report/testing/sample_conformance.h"
#include "assay/report/testing/sample_summary.h"

namespace assay::report {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::int64_t> noisy_times(std::size_t count) {
  std::mt19937_64 random(5);
  std::vector<std::int64_t> times(count);
  std::ranges::generate(times, [&] { return 1'000'000 + static_cast<int>(random() % 100'000); });
  return times;
}

/// One case with so many launches of so many inferences.
RunSummary run_of(std::size_t launches, std::size_t inferences) {
  auto summary = sample_summary();
  summary.cases.resize(1);
  summary.trade_offs.clear();
  auto& cell = summary.cases.front();
  cell.launches.clear();
  for (std::size_t i = 0; i < launches; ++i) {
    cell.launches.push_back({.index = static_cast<int>(i), .execute_ns = noisy_times(inferences)});
  }
  return summary;
}

Json page_of(const RunSummary& summary) {
  const auto data = run_page_data(summary);
  EXPECT_LE(data.size(), kMostPageDataBytes);
  return Json::parse(data);
}

TEST(RunPageData, HasEveryInferenceOfAnOrdinaryRun) {
  const auto summary = sample_summary();
  const auto page = page_of(summary);
  EXPECT_FALSE(page.contains("page"));
  EXPECT_EQ(page.at("cases"), Json::parse(document_of(summary)).at("cases"));
}

TEST(RunPageData, ThinsTheSeriesOfALongRunAndChangesNoNumber) {
  const auto summary = run_of(3, 500'000);
  const auto page = page_of(summary);
  EXPECT_FALSE(page.contains("page")) << "nothing else is left out";
  const auto& cell = page.at("cases").at(0);
  EXPECT_EQ(cell.at("metrics"), Json(summary.cases.at(0)).at("metrics"));
  for (const auto& launch : cell.at("launches")) {
    EXPECT_EQ(launch.at("inferences"), 500'000);
    EXPECT_EQ(launch.at("drawn").size(), launch.at("execute_ns").size());
    EXPECT_GT(launch.at("drawn").size(), 1'000U);
    EXPECT_EQ(launch.at("drawn").front(), 0);
    EXPECT_EQ(launch.at("drawn").back(), 499'999);
    const auto& all = summary.cases.at(0).launches.at(0).execute_ns;
    EXPECT_THAT(launch.at("execute_ns"), Contains(std::ranges::max(all)));
    EXPECT_THAT(launch.at("execute_ns"), Contains(std::ranges::min(all)));
  }
}

TEST(RunPageData, LeavesOutWhatALargeRunCanDoWithoutAndSaysSo) {
  const auto page = page_of(run_of(6'000, 50));
  const auto& left_out = page.at("page").at("left_out");
  EXPECT_THAT(left_out, Contains("the time of each inference"));
  EXPECT_EQ(page.at("page").at("items"), 1);
  EXPECT_EQ(page.at("cases").size(), 1U);
}

TEST(RunPageData, KeepsTheFailuresOfARunWithTooManyCases) {
  auto summary = sample_summary();
  const auto failed = static_cast<std::size_t>(
      std::ranges::count(summary.cases, Verdict::kFail, &CaseSummary::verdict));
  const auto pass = *std::ranges::find(summary.cases, Verdict::kPass, &CaseSummary::verdict);
  summary.cases.insert(summary.cases.begin(), 1'500, pass);
  const auto page = page_of(summary);
  const auto& cases = page.at("cases");
  EXPECT_EQ(page.at("page").at("items"), summary.cases.size());
  EXPECT_THAT(page.at("page").at("left_out").back().get<std::string>(),
              HasSubstr(" of 1510 cases"));
  EXPECT_EQ(std::ranges::count(cases, "fail", [](const Json& cell) { return cell.at("verdict"); }),
            failed);
}

TEST(RunPageData, OneCaseThatIsTooLargeDoesNotCostTheOthersTheirPlace) {
  auto summary = sample_summary();
  const auto all = summary.cases.size();
  const auto failed = std::ranges::find(summary.cases, Verdict::kFail, &CaseSummary::verdict);
  failed->last_words = std::string(kMostPageDataBytes, 'x');
  const auto page = page_of(summary);
  EXPECT_EQ(page.at("cases").size(), all - 1);
  EXPECT_EQ(page.at("page").at("items"), all);
}

TEST(RunPageData, CountsWhatTheElementAroundItMakesLonger) {
  auto summary = run_of(1, 1);
  summary.cases.front().last_words = std::string(400'000, '<');
  summary.cases.resize(3, summary.cases.front());
  const auto page = page_of(summary);
  EXPECT_LT(page.at("cases").size(), 3U) << "'<' takes six bytes in a page";
}

TEST(ConformancePage, IsBoundedAndKeepsEveryFailure) {
  auto report = sample_conformance();
  const auto failures = report.results;
  auto pass = failures.front();
  pass.verdict = ConformVerdict::kPass;
  pass.known = KnownGap::kNone;
  pass.text = std::string(500, 'x');
  report.results.insert(report.results.begin(), 10'000, pass);
  std::ostringstream out;
  // A site's page: the charts' script is a file of its own.
  ASSERT_TRUE(conformance_to_html(report, {.site = SitePlace{}}, out));
  EXPECT_LT(out.str().size(), kMostPageDataBytes + 100'000);
  EXPECT_THAT(out.str(), HasSubstr("how cases that passed were judged"));
  for (const auto& result : failures) {
    EXPECT_THAT(out.str(), HasSubstr("\"name\":\"" + result.name + "\""));
  }
}

}  // namespace
}  // namespace assay::report
