// A metric that is better when it is higher reads in every format as its reciprocal with the
// direction turned round: the same words, colors and order, the opposite change.

#include <algorithm>
#include <cstddef>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/record/comparison.h"
#include "assay/record/metric.h"
#include "assay/record/stored_comparison.h"
#include "assay/record/summary.h"
#include "assay/report/case_text.h"
#include "assay/report/comparison.h"
#include "assay/report/stored_comparison.h"
#include "assay/report/testing/sample_summary.h"
#include "assay/report/text_table.h"
#include "assay/report/writer.h"

namespace assay::report {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string formatted(std::string_view format, const RunSummary& summary) {
  std::ostringstream out;
  const auto status = write_report(format, summary, {.width_columns = 200}, out);
  EXPECT_TRUE(status) << status.error().message;
  return out.str();
}

double reciprocal_change(double ratio) { return 1 / (1 + ratio) - 1; }

PairEstimate time_estimate(ComparisonVerdict verdict, double ratio) {
  return {.metric = "program:step",
          .pairs = 20,
          .ratio = ratio,
          .low = ratio - 0.01,
          .high = ratio + 0.01,
          .verdict = verdict,
          .a_median = 2e6,
          .b_median = 2e6 * (1 + ratio),
          .unit = "ns",
          .better = Better::kLower};
}

/// Tells the pairs as a rate.
PairEstimate rate_of(const PairEstimate& time) {
  auto rate = time;
  rate.ratio = reciprocal_change(time.ratio);
  rate.low = reciprocal_change(*time.high);
  rate.high = reciprocal_change(*time.low);
  rate.a_median = 1e9 / time.a_median;
  rate.b_median = 1e9 / time.b_median;
  rate.unit = "1/s";
  rate.better = Better::kHigher;
  return rate;
}

const TextColumn& column_of(const TextTable& table, std::string_view title) {
  return *std::ranges::find(table.columns, title, &TextColumn::title);
}

TEST(Direction, OfAComparedMetricTurnsItsChangeAndNoWord) {
  for (const auto& [verdict, name] : kEnumNames<ComparisonVerdict>) {
    for (const double ratio : {0.2, -0.2}) {
      const auto time = time_estimate(verdict, ratio);
      const auto of_time = comparison_table({.metrics = {time}});
      const auto of_rate = comparison_table({.metrics = {rate_of(time)}});
      const auto& answer = column_of(of_time, "answer").cells.at(0);
      EXPECT_EQ(answer.text, column_of(of_rate, "answer").cells.at(0).text) << name;
      EXPECT_EQ(answer.colour, column_of(of_rate, "answer").cells.at(0).colour) << name;
      const auto& change = column_of(of_time, "B vs A");
      const auto& turned = column_of(of_rate, "B vs A");
      EXPECT_NEAR((1 + std::stod(change.cells.at(0).text) / 100) *
                      (1 + std::stod(turned.cells.at(0).text) / 100),
                  1, 0.001);
      EXPECT_EQ(change.unit, "% time");
      EXPECT_EQ(turned.unit, "%") << "a rate is no time";
      EXPECT_EQ(column_of(of_time, "interval").cells.at(0).text.empty(),
                column_of(of_rate, "interval").cells.at(0).text.empty());
    }
  }
}

TEST(Direction, OfAComparisonIsTheSameInEveryFormatOfIt) {
  auto times = sample_comparison();
  auto& comparison = times.comparisons.at(0).comparison;
  comparison.metrics = {time_estimate(ComparisonVerdict::kSlower, 0.2)};
  comparison.looks = comparison.metrics;
  auto rates = times;
  auto& turned = rates.comparisons.at(0).comparison;
  turned.metrics = {rate_of(comparison.metrics.at(0))};
  turned.looks = turned.metrics;
  const auto count = [](const std::string& text, const std::string& word) {
    const std::regex expression(word);
    return std::distance(std::sregex_iterator(text.begin(), text.end(), expression),
                         std::sregex_iterator());
  };
  for (const auto* format : {"console", "md", "json", "jsonl", "html", "csv", "junit"}) {
    const auto of_time = formatted(format, times);
    const auto of_rate = formatted(format, rates);
    for (const auto* word : {"slower", "faster", "worse"}) {
      EXPECT_EQ(count(of_time, word), count(of_rate, word)) << format << ": " << word;
    }
  }
  EXPECT_THAT(formatted("console", times), HasSubstr("+20.0 % time, p"));
  EXPECT_THAT(formatted("console", rates), HasSubstr("-16.7 %, p"));
}

/// A metric that has a definition brings no unit of its own.
TEST(Direction, TheUnitOfAChangeIsThatOfTheMetric) {
  const auto unit_of = [](const std::string& metric) {
    const PairEstimate estimate{.metric = metric, .ratio = 0.1, .a_median = 1, .b_median = 1.1};
    return column_of(comparison_table({.metrics = {estimate}}), "B vs A").unit;
  };
  EXPECT_EQ(unit_of("steady_floor_ns"), "% time");
  EXPECT_EQ(unit_of("throughput_per_s"), "%");
  EXPECT_EQ(unit_of("peak_rss_bytes"), "%");
  const PairEstimate from_zero{.metric = "sqnr_db",
                               .ratio = 3,
                               .low = 2,
                               .high = 4,
                               .scale = MetricScale::kDifference,
                               .base = 0};
  const auto table = comparison_table({.metrics = {from_zero}});
  EXPECT_EQ(column_of(table, "B vs A").unit, "");
  EXPECT_EQ(column_of(table, "B vs A").cells.at(0).text, "+3.00 dB");
  EXPECT_EQ(column_of(table, "interval").cells.at(0).text, "[2.00, 4.00]");
}

TEST(Direction, OfTwoStoredRunsTurnsTheChangeAndNoWord) {
  StoredComparison times{.metric = "program:step", .unit = "ns", .better = Better::kLower};
  for (const double ratio : {0.5, -0.3, 0.1, -0.02}) {
    times.changes.push_back({.label = std::to_string(ratio),
                             .a_median = 1e6,
                             .b_median = 1e6 * (1 + ratio),
                             .ratio = ratio,
                             .is_nominated = ratio != 0.1});
  }
  auto rates = times;
  rates.unit = "1/s";
  rates.better = Better::kHigher;
  for (auto& change : rates.changes) {
    change.ratio = reciprocal_change(change.ratio);
  }
  const auto of_times = rows_from_stored(times);
  const auto of_rates = rows_from_stored(rates);
  for (std::size_t i = 0; i < of_times.size(); ++i) {
    EXPECT_EQ(of_times[i].sign, of_rates[i].sign);
    EXPECT_NE(of_times[i].change.front(), of_rates[i].change.front());
    EXPECT_THAT(of_times[i].change_with_unit, HasSubstr(" % time"));
    EXPECT_THAT(of_rates[i].change_with_unit, Not(HasSubstr("time")));
  }
  EXPECT_EQ(of_times[0].sign, "worse: compare in pairs");
  EXPECT_EQ(of_times[1].sign, "better: compare in pairs");
  auto counts = times;
  counts.unit = "count";
  counts.changes = {{.label = "misses", .ratio = 3, .scale = MetricScale::kDifference}};
  EXPECT_EQ(rows_from_stored(counts).at(0).change_with_unit, "+3.00 count");
  EXPECT_THAT(console_from_stored(counts, 200, false), Not(HasSubstr("%  ")));
}

TEST(Direction, TheWorstOutputIsTheSameByAnErrorAndItsReciprocal) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  using Errors = std::pair<double, double>;
  for (const auto& [first, second] :
       {Errors(0.1, 0.2), Errors(0.2, 0.1), Errors(0.1, kNan), Errors(kNan, 0.1)}) {
    const auto summary = summary_with_output_errors(first, second);
    const auto& cell = summary.cases.front();
    const auto* by_error = find_worst_output(cell, "float32", "relative_l2_error");
    EXPECT_EQ(by_error, find_worst_output(cell, "float32", "sqnr_db"));
    EXPECT_EQ(by_error->output, first == 0.1 ? "1" : "0");
  }
  const auto summary = summary_with_output_errors(0.25, 0.125);
  EXPECT_EQ(decisive_bounds(summary.cases.front()).at("float32.relative_l2_error"), "<=0.5");
  EXPECT_EQ(decisive_bounds(summary.cases.front()).at("float32.sqnr_db"), ">=2");
  const auto text = formatted("csv", summary);
  EXPECT_THAT(text, HasSubstr("0.25"));
  EXPECT_THAT(text, Not(HasSubstr("0.125"))) << "the better output";
}

}  // namespace
}  // namespace assay::report
