#include "features/history/csv_series.h"

#include "features/history/csv_text.h"
#include "features/history/series.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/metric.h"

namespace assay::history {
namespace {

Result<std::vector<Series>> series_of(const std::string& text, const std::string& origin) {
  ASSAY_ASSIGN_OR_RETURN(auto found, series_from_csv(text, origin));
  return std::move(found.series);
}

std::string error_of(const std::string& text) {
  const auto series = series_of(text, "x.csv");
  return series ? "" : series.error().message;
}

TEST(SeriesFromCsv, ReadsPointsInTheOrderOfTheirTimes) {
  const auto series = series_of(
      "time,commit,value\n2026-01-02,b,2\n2026-01-01,a,1\n2026-01-03,c,4\n", "folder/x.csv");
  ASSERT_TRUE(series.has_value()) << series.error().message;
  ASSERT_EQ(series->size(), 1U);
  const auto& points = series->front().points;
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(points[0].commit, "a");
  EXPECT_EQ(points[2].position, 2);
  EXPECT_EQ(points[1].value, 2);
  EXPECT_NEAR(points[2].offset, std::log(4.0), 1e-12);
  EXPECT_EQ(series->front().name, "x.csv");
}

TEST(SeriesFromCsv, KeepsTheOrderOfTheFileWithoutTimes) {
  const auto series = series_of("commit,value\nz,1\na,2\n", "x.csv");
  ASSERT_TRUE(series.has_value());
  EXPECT_EQ(series->front().points[0].commit, "z");
}

TEST(SeriesFromCsv, DividesBySeriesAndMetricAndSharesCommits) {
  const auto series = series_of(
      "commit,value,series,metric\na,1,net,steady_ns\nb,2,net,steady_ns\nb,7,net,program_bytes\n",
      "x.csv");
  ASSERT_TRUE(series.has_value());
  ASSERT_EQ(series->size(), 2U);
  EXPECT_EQ((*series)[1].metric, "program_bytes");
  EXPECT_EQ((*series)[1].unit, "bytes");
  EXPECT_EQ((*series)[1].points[0].position, 1);
}

TEST(SeriesFromCsv, JoinsValuesOfOneCommitToTheirMedian) {
  const auto series = series_of("commit,value\na,1\na,9\na,2\nb,5\n", "x.csv");
  ASSERT_TRUE(series.has_value());
  ASSERT_EQ(series->front().points.size(), 2U);
  EXPECT_EQ(series->front().points[0].value, 2);
}

TEST(SeriesFromCsv, DividesEnvironmentsThatWereUsedSideBySide) {
  const auto after = series_of("commit,value,environment\na,1,x\nb,1,x\nc,1,y\n", "f");
  ASSERT_TRUE(after.has_value());
  EXPECT_EQ(after->size(), 1U);
  const auto beside = series_of("commit,value,environment\na,1,x\na,3,y\nb,1,x\nb,3,y\n", "f");
  ASSERT_TRUE(beside.has_value());
  ASSERT_EQ(beside->size(), 2U);
  EXPECT_EQ((*beside)[1].full_name(), "f (y)");
  EXPECT_EQ((*beside)[1].name, "f");
  EXPECT_EQ((*beside)[1].points[0].value, 3);
  EXPECT_EQ((*beside)[1].points[0].offset, 0);
}

TEST(SeriesFromCsv, TakesValuesWithIntervalsOfNoWidthForExact) {
  const auto exact = series_of("commit,value,low,high\na,5,5,5\nb,5,5,5\n", "f");
  ASSERT_TRUE(exact.has_value());
  EXPECT_TRUE(exact->front().is_exact());
  const auto noisy = series_of("commit,value,low,high\na,5,4,6\nb,5,,\n", "f");
  ASSERT_TRUE(noisy.has_value());
  EXPECT_FALSE(noisy->front().is_exact());
  EXPECT_NEAR(noisy->front().points[0].high, std::log(6.0 / 5), 1e-12);
}

TEST(SeriesFromCsv, ReadsQuotesAndWindowsLineEnds) {
  const auto series = series_of(
      "\xEF\xBB\xBF"
      "commit,value,series\r\na, 1 ,\"x, \"\"y\"\"\"\r\n\r\nb,2,\"x, \"\"y\"\"\"\r\n",
      "f");
  ASSERT_TRUE(series.has_value()) << series.error().message;
  ASSERT_EQ(series->size(), 1U);
  EXPECT_EQ(series->front().name, "x, \"y\"");
}

TEST(SeriesFromCsv, NamesTheLineAndWhatIsExpected) {
  EXPECT_EQ(error_of("commit,value,unit\na,-3,ns\n"),
            "x.csv:2: the value -3 is not above 0, as a number in 'ns' is");
  EXPECT_EQ(error_of("commit,value\n\n\nb,1,2\n"), "x.csv:4: 3 fields, but the first line has 2");
  EXPECT_NE(error_of("commit,value\na,nan\n").find("'nan' is not a number"), std::string::npos);
  EXPECT_NE(error_of("commit,time,value\na,soon,1\n").find("x.csv:2: time 'soon' is neither"),
            std::string::npos);
  EXPECT_NE(error_of("commit,valeu\n").find("did you mean 'value'?"), std::string::npos);
  EXPECT_NE(error_of("commit,time\na,1\n").find("no column 'value'"), std::string::npos);
  EXPECT_NE(error_of("").find("the file is empty"), std::string::npos);
  EXPECT_NE(error_of("commit,value\n").find("no values"), std::string::npos);
  EXPECT_NE(error_of("commit,value\n,1\n").find("the commit is empty"), std::string::npos);
  EXPECT_NE(error_of("commit,value\na,\n").find("the value is empty"), std::string::npos);
  EXPECT_NE(error_of("commit,value,low,high\na,1,2,3\n").find("does not lie between"),
            std::string::npos);
  EXPECT_NE(error_of("commit,value,low\na,1,1\n").find("go together"), std::string::npos);
  EXPECT_NE(error_of("commit,value\n\"a,1\n").find("x.csv:2: a quote"), std::string::npos);
  EXPECT_NE(error_of("commit,value,better\na,1,more\n").find("none of lower, higher and none"),
            std::string::npos);
}

TEST(SeriesFromCsv, CountsRowsWithoutAPointAndReadsAllOthers) {
  const auto found = series_from_csv(
      "commit,value,series,unit\na,,net,ms\na,5,other,ms\nb,nan,net,ms\nc,0,net,ms\nd,7,net,ms\n"
      "e,8\nf,inf,other,ms\ng,5,other,ms\nh,5,other,ms\n",
      "x.csv");
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_EQ(found->rows_without_point, 5U);
  EXPECT_EQ(found->first_reason, "line 2: the value is empty");
  ASSERT_EQ(found->series.size(), 2U);
  EXPECT_EQ(found->series[0].name, "other");
  ASSERT_EQ(found->series[1].points.size(), 1U);
  EXPECT_EQ(found->series[1].points[0].value, 7);
}

TEST(SeriesFromCsv, ComparesByTheScaleOfTheMetricOrTheUnit) {
  const auto series = series_of(
      "commit,value,series,metric,unit\n"
      "a,100,rate,x,1/s\nb,50,rate,x,1/s\n"
      "a,0,drops,x,count\nb,3,drops,x,count\n"
      "a,40,quality,sqnr_db,\nb,-2,quality,sqnr_db,\n"
      "a,95,hits,x,%\nb,90,hits,x,%\n"
      "a,2,speed,x,MB/s\nb,4,speed,x,MB/s\n"
      "a,2,plain,x,\nb,4,plain,x,\n"
      "a,0,zero,x,\nb,4,zero,x,\n",
      "x.csv");
  ASSERT_TRUE(series.has_value()) << series.error().message;
  const auto expect = [&](std::size_t at, bool is_ratio, Better better, double offset) {
    const auto& one = series->at(at);
    EXPECT_EQ(one.is_ratio, is_ratio) << one.name;
    EXPECT_EQ(one.better, better) << one.name;
    EXPECT_NEAR(one.points.at(1).offset, offset, 1e-12) << one.name;
  };
  expect(0, true, Better::kHigher, -std::log(2.0));
  expect(1, false, Better::kNone, 3);
  expect(2, false, Better::kHigher, -42);
  expect(3, false, Better::kNone, -5);
  expect(4, true, Better::kHigher, std::log(2.0));
  expect(5, true, Better::kNone, std::log(2.0));
  expect(6, false, Better::kNone, 4);
}

TEST(SeriesFromCsv, TakesTheDirectionFromItsColumn) {
  const auto found = series_from_csv(
      "commit,value,unit,better\na,9,count,higher\nb,8,count,\nc,7,count,lower\n", "x.csv");
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_EQ(found->series[0].better, Better::kHigher);
  EXPECT_EQ(found->series[0].points.size(), 2U);
  EXPECT_EQ(found->first_reason,
            "line 4: better is 'lower', and 'higher' in an earlier row of the series");
}

TEST(SeriesFromCsv, ConvertsRowsInAnotherUnitOfTheSameQuantity) {
  const auto found =
      series_from_csv("commit,value,unit\na,12,ms\nb,12000,us\nc,12,bytes\n", "x.csv");
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_EQ(found->series[0].unit, "ms");
  EXPECT_NEAR(found->series[0].points.at(1).value, 12, 1e-12);
  EXPECT_EQ(found->rows_without_point, 1U);
  EXPECT_EQ(found->first_reason, "line 4: the unit is 'bytes', and that of the series 'ms'");
}

TEST(SeriesFromCsv, TakesTheUnitOfTheFirstRowThatHasOne) {
  const auto series =
      series_of("commit,value,unit\na,100,\nb,101,ms\nc,0.102,s\nd,103,\n", "x.csv");
  ASSERT_TRUE(series.has_value()) << series.error().message;
  EXPECT_EQ(series->front().unit, "ms");
  EXPECT_TRUE(series->front().is_ratio);
  EXPECT_EQ(series->front().better, Better::kLower);
  ASSERT_EQ(series->front().points.size(), 4U);
  EXPECT_NEAR(series->front().points[2].value, 102, 1e-9);
  const auto zero = series_of("commit,value,unit\na,0,\nb,101,ms\nc,102,ms\n", "x.csv");
  ASSERT_TRUE(zero.has_value()) << zero.error().message;
  EXPECT_FALSE(zero->front().is_ratio) << "the first value has no ratio";
}

TEST(SeriesFromCsv, ConvertsRates) {
  const auto series = series_of("commit,value,unit\na,1,GB/s\nb,1100,MB/s\nc,1,GB/s\n", "x.csv");
  ASSERT_TRUE(series.has_value()) << series.error().message;
  ASSERT_EQ(series->front().points.size(), 3U);
  EXPECT_NEAR(series->front().points[1].value, 1.1, 1e-9);
  EXPECT_EQ(series->front().better, Better::kHigher);
  const auto sizes = series_from_csv("commit,value,unit\na,1,GB/s\nb,1100,MB\n", "x.csv");
  ASSERT_TRUE(sizes.has_value()) << sizes.error().message;
  EXPECT_EQ(sizes->rows_without_point, 1U);
}

TEST(SeriesFromCsv, RefusesAFileOfWhichMostRowsAreNoPoints) {
  EXPECT_EQ(error_of("commit,value,unit\na,1,ms\nb,2,MB\nc,3,MB\n"),
            "x.csv:3: the unit is 'MB', and that of the series 'ms'; 2 of the 3 rows with a value "
            "are no points for such reasons");
  EXPECT_EQ(error_of("commit,value\na,1\nb,\nc,\nd,\n"), "") << "those were not measured";
}

TEST(UnixNsFromText, KnowsTheUsualForms) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  constexpr std::int64_t kNoon = 1'769'860'800;  // date -u -d '2026-01-31 12:00' +%s
  EXPECT_EQ(unix_ns_from_text("1769860800"), kNoon * kSecond);
  EXPECT_EQ(unix_ns_from_text("2026-01-31T12:00:00Z"), kNoon * kSecond);
  EXPECT_EQ(unix_ns_from_text("2026-01-31 14:00:00 +0200"), kNoon * kSecond);
  EXPECT_EQ(unix_ns_from_text("2026-01-31T06:30:00.5-05:30"), kNoon * kSecond);
  EXPECT_EQ(unix_ns_from_text("2026-01-31"), (kNoon - 43'200) * kSecond);
  for (const auto* wrong : {"", "2026-02-30", "2026-01-31T25:00", "1e300", "-5", "2026-01-31x",
                            "1769860800000", "+026-01-31"}) {
    EXPECT_FALSE(unix_ns_from_text(wrong).has_value()) << wrong;
  }
}

}  // namespace
}  // namespace assay::history
