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
#include <tuple>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/history/history.h"
#include "assay/history/series.h"
#include "assay/record/comparison.h"
#include "assay/record/metric.h"
#include "assay/record/stored_comparison.h"
#include "assay/record/summary.h"
#include "assay/report/case_text.h"
#include "assay/report/comparison.h"
#include "assay/report/history.h"
#include "assay/report/stored_comparison.h"
#include "assay/report/testing/sample_history.h"
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

/// Two outputs with an error, told by two metrics of opposite directions: how large it is, and how
/// small it is.
RunSummary summary_with_outputs(double first, double second) {
  auto summary = sample_summary();
  summary.cases.resize(1);
  AccuracyTable table{.against = "float32", .accuracy = Accuracy::kFailNumeric};
  for (const double error : {first, second}) {
    OutputError output{.output = std::to_string(table.outputs.size())};
    output.metrics["relative_l2_error"] = make_metric("relative_l2_error", error);
    output.metrics["sqnr_db"] = make_metric("sqnr_db", 1 / error);
    output.bounds = {{"relative_l2_error", 0.5}, {"sqnr_db", 2}};
    table.outputs.push_back(output);
  }
  summary.cases.front().accuracy_tables = {table};
  return summary;
}

TEST(Direction, TheWorstOutputIsTheSameByAnErrorAndItsReciprocal) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  using Errors = std::pair<double, double>;
  for (const auto& [first, second] :
       {Errors(0.1, 0.2), Errors(0.2, 0.1), Errors(0.1, kNan), Errors(kNan, 0.1)}) {
    const auto summary = summary_with_outputs(first, second);
    const auto& cell = summary.cases.front();
    const auto* by_error = find_worst_output(cell, "float32", "relative_l2_error");
    EXPECT_EQ(by_error, find_worst_output(cell, "float32", "sqnr_db"));
    EXPECT_EQ(by_error->output, first == 0.1 ? "1" : "0");
  }
  const auto summary = summary_with_outputs(0.25, 0.125);
  EXPECT_EQ(decisive_bounds(summary.cases.front()).at("float32.relative_l2_error"), "<=0.5");
  EXPECT_EQ(decisive_bounds(summary.cases.front()).at("float32.sqnr_db"), ">=2");
  for (const auto* format : {"csv", "perfherder", "pytorch-hud"}) {
    const auto text = formatted(format, summary);
    EXPECT_THAT(text, HasSubstr("0.25")) << format;
    EXPECT_THAT(text, Not(HasSubstr("0.125"))) << format << ": the better output";
  }
}

/// Metrics of one case, as a time and as the rate that is its reciprocal.
TEST(Direction, OfAProgramsMetricIsTurnedForOtherTools) {
  auto summary = sample_summary();
  summary.cases.resize(1);
  summary.cases.front().metrics = {
      {"program:step", {.value = 4e6, .count = 3, .unit = "ns", .better = Better::kLower}},
      {"program:rate", {.value = 250, .count = 3, .unit = "1/s", .better = Better::kHigher}}};
  const auto perfherder = Json::parse(formatted("perfherder", summary));
  const auto subtest = [&perfherder](std::string_view name) {
    const auto& all = perfherder.at("suites").at(0).at("subtests");
    return *std::ranges::find_if(all, [&](const Json& one) { return one.at("name") == name; });
  };
  EXPECT_TRUE(subtest("step").at("lowerIsBetter").get<bool>());
  EXPECT_FALSE(subtest("rate").at("lowerIsBetter").get<bool>());
  EXPECT_EQ(subtest("step").contains("shouldAlert"), subtest("rate").contains("shouldAlert"));
  const auto charted = [&summary](std::string_view format, std::string_view name) {
    return formatted(format, summary).contains("/ " + std::string(name) + "\"");
  };
  EXPECT_TRUE(charted("github-benchmark", "step"));
  EXPECT_FALSE(charted("github-benchmark", "rate"));
  EXPECT_TRUE(charted("github-benchmark-bigger", "rate"));
  EXPECT_FALSE(charted("github-benchmark-bigger", "step"));
  for (const auto* format : {"console", "md", "csv", "json", "junit", "fai-pep", "pytorch-hud"}) {
    const auto text = formatted(format, summary);
    EXPECT_THAT(text, HasSubstr("step")) << format;
    EXPECT_THAT(text, HasSubstr("rate")) << format;
  }
}

history::History mirrored(const history::History& history) {
  std::vector<history::Series> all;
  for (const auto& [series, analysis] : history.series) {
    auto& turned = all.emplace_back(series);
    turned.unit = "1/s";
    turned.better = Better::kHigher;
    for (auto& point : turned.points) {
      point.value = 1e9 / point.value;
      point.offset = -point.offset;
      std::tie(point.low, point.high) = std::pair(-point.high, -point.low);
    }
  }
  return history::make_history(history.source, std::move(all), history.rule);
}

/// The words and colors of a text that depend on a direction.
std::vector<std::string> words_of_direction(const std::string& text) {
  const std::regex expression(R"(worse|better|slower|faster|changed|\x1b\[3[12]m)");
  std::vector<std::string> words;
  for (std::sregex_iterator word(text.begin(), text.end(), expression), end; word != end; ++word) {
    words.push_back(word->str());
  }
  return words;
}

TEST(Direction, OfAHistoryTurnsItsChangesAndNoWord) {
  const auto sample = sample_history();
  std::vector<history::Series> series;
  for (const auto& one : sample.series) {
    series.push_back(one.series);
  }
  const auto times = history::make_history(sample.source, std::move(series), sample.rule);
  const auto rates = mirrored(times);
  const ReportStyle style{.width_columns = 200, .is_terminal = true};
  const auto words = words_of_direction(console_from_history(times, style));
  EXPECT_THAT(words, testing::Contains("worse"));
  EXPECT_THAT(words, testing::Contains("better"));
  EXPECT_EQ(words, words_of_direction(console_from_history(rates, style)));
  const auto& points = times.series.front().series.points;
  for (const std::size_t at : {std::size_t{69}, std::size_t{70}, points.size() - 1}) {
    EXPECT_EQ(words_of_direction(explanation_of_commit(times, points[at].position, style)),
              words_of_direction(explanation_of_commit(rates, points[at].position, style)));
  }
  const auto of_times = Json::parse(json_from_history(times)).at("series");
  const auto of_rates = Json::parse(json_from_history(rates)).at("series");
  for (std::size_t i = 0; i < of_times.size(); ++i) {
    const auto& steps = of_times[i].at("steps");
    ASSERT_EQ(steps.size(), of_rates[i].at("steps").size());
    for (std::size_t step = 0; step < steps.size(); ++step) {
      const auto& turned = of_rates[i].at("steps")[step];
      EXPECT_EQ(steps[step].at("direction"), turned.at("direction"));
      EXPECT_NEAR(
          (1 + steps[step].at("change").get<double>()) * (1 + turned.at("change").get<double>()), 1,
          1e-6);
    }
  }
}

}  // namespace
}  // namespace assay::report
