// A series that is better when it is higher reads as its reciprocal with the direction turned
// round.

#include "features/history/history.h"
#include "features/history/report/history_report.h"
#include "features/history/series.h"
#include "features/history/testing/sample_history.h"

#include <cstddef>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/record/metric.h"
#include "assay/report/writer.h"

namespace assay::report {
namespace {

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
