#include "assay/summary/trade_off.h"

#include <cmath>
#include <cstddef>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "assay/record/axes.h"
#include "assay/record/metric.h"
#include "assay/record/summary.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

struct Point {
  std::string recipe;
  double latency_ns = 0;
  double sqnr_db = 0;
  double half_width_ns = 0;
  std::string model = "net";
};

CaseSummary cell_at(const Point& point, const std::string& against = "float32") {
  CaseSummary cell{.model = point.model, .recipe = point.recipe, .shapes = "1x3"};
  cell.outcome = Outcome::kCompleted;
  cell.accuracy = Accuracy::kPass;
  cell.timing = Timing::kSteady;
  cell.metrics["steady_ns"] = {.value = point.latency_ns,
                               .low = point.latency_ns - point.half_width_ns,
                               .high = point.latency_ns + point.half_width_ns,
                               .confidence = 0.75,
                               .count = 3};
  const auto sqnr = make_metric("sqnr_db", point.sqnr_db);
  const auto name = against == "float32" ? "sqnr_db" : against + ".sqnr_db";
  cell.metrics[name] = {.value = sqnr.value, .count = 1, .special = sqnr.special};
  cell.accuracy_tables = {
      {.against = against,
       .accuracy = Accuracy::kPass,
       .outputs = {{.output = "y", .metrics = {{"sqnr_db", sqnr}}, .bounds = {}}}}};
  return cell;
}

std::vector<CaseSummary> cells_at(const std::vector<Point>& points) {
  std::vector<CaseSummary> cells;
  cells.reserve(points.size());
  for (const auto& point : points) {
    cells.push_back(cell_at(point));
  }
  return cells;
}

std::vector<std::string> front(const TradeOff& trade_off) {
  std::vector<std::string> titles;
  for (const auto& point : trade_off.points) {
    if (point.is_on_front) {
      titles.push_back(point.title);
    }
  }
  return titles;
}

TEST(TradeOff, OrdersByTimeAndMarksWhatNothingBeatsInBoth) {
  const auto found = find_trade_offs(cells_at({{"slow", 9e6, 90},
                                               {"fp32", 4e6, 120},
                                               {"int8", 1e6, 20},
                                               {"worse", 2e6, 12},
                                               {"fp16", 3e6, 60}}));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].metric, "sqnr_db");
  EXPECT_EQ(found[0].against, "float32");
  EXPECT_THAT(front(found[0]), ElementsAre("int8", "fp16", "fp32"));
  EXPECT_EQ(found[0].points[1].title, "worse");
  EXPECT_EQ(found[0].points[1].case_index, 3);
}

TEST(TradeOff, OfTwoThatAreEquallyFastTheMoreAccurateOneIsOnTheFront) {
  const auto found = find_trade_offs(cells_at({{"a", 1e6, 20}, {"b", 1e6, 30}}));
  EXPECT_THAT(front(found.at(0)), ElementsAre("b"));
}

TEST(TradeOff, PointsThatAreEqualAreBothOnTheFront) {
  const auto trade_offs = find_trade_offs(
      cells_at({{"a", 1000, 30}, {"b", 1000, 30}, {"c", 1000, 20}, {"d", 2000, 30}}));
  ASSERT_THAT(trade_offs, SizeIs(1));
  std::vector<bool> front;
  for (const auto& point : trade_offs.front().points) {
    front.push_back(point.is_on_front);
  }
  EXPECT_THAT(front, ElementsAre(true, true, false, false));
}

TEST(TradeOff, NamesTheFastestThatKeepsAccuracyWithItsBound) {
  auto cells = cells_at({{"fp32", 4e6, 120}, {"int8", 2e6, 28}, {"int4", 1e6, 3}});
  cells[2].accuracy = Accuracy::kFailNumeric;
  cells[1].accuracy_tables[0].outputs[0].bounds = {{"sqnr_db", 8}};
  const auto found = find_trade_offs(cells);
  EXPECT_EQ(found.at(0).text, "fastest that keeps accuracy: int8, 2 ms, SQNR 28 dB (>= 8)");
  EXPECT_FALSE(found.at(0).points.at(0).keeps_accuracy);
}

TEST(TradeOff, ABrokenGateOnAccuracyLosesItAndOneOnTimeDoesNot) {
  auto cells = cells_at({{"fp32", 4e6, 120}, {"int8", 2e6, 28}});
  cells[1].gates = {{.metric = "steady_ns", .bound = "<=1ms", .is_met = false}};
  EXPECT_THAT(find_trade_offs(cells).at(0).text, HasSubstr("accuracy: int8"));
  cells[1].gates = {{.metric = "sqnr_db", .bound = ">=40", .is_met = false}};
  EXPECT_THAT(find_trade_offs(cells).at(0).text, HasSubstr("accuracy: fp32"));
}

TEST(TradeOff, SaysWhichOrderTheIntervalsLeaveOpen) {
  const auto cells =
      cells_at({{"fp32", 4e6, 120, 0.1e6}, {"int8", 2e6, 28, 0.3e6}, {"fp16", 2.5e6, 60, 0.3e6}});
  EXPECT_THAT(find_trade_offs(cells).at(0).text,
              HasSubstr("; not told apart from fp16: their intervals overlap"));
  const auto apart = cells_at({{"int8", 2e6, 28, 0.1e6}, {"fp16", 2.5e6, 60, 0.1e6}});
  EXPECT_THAT(find_trade_offs(apart).at(0).text, Not(HasSubstr("overlap")));
}

TEST(TradeOff, SaysWhenTheFastestIsNotSteady) {
  auto cells = cells_at({{"fp32", 4e6, 120}, {"int8", 2e6, 28}});
  cells[1].timing = Timing::kInconclusive;
  EXPECT_THAT(find_trade_offs(cells).at(0).text, HasSubstr("; its timing is inconclusive"));
}

TEST(TradeOff, LeavesOutTimesOfAnEmulator) {
  auto cells = cells_at({{"fp32", 4e6, 120}, {"int8", 2e6, 28}, {"npu", 1e6, 30}});
  cells[2].timing = Timing::kEmulated;
  const auto trade_off = find_trade_offs(cells).at(0);
  EXPECT_THAT(trade_off.points, SizeIs(2));
  EXPECT_THAT(trade_off.text, HasSubstr("fastest that keeps accuracy: int8"));
}

TEST(TradeOff, SaysWhenNothingKeepsAccuracy) {
  auto cells = cells_at({{"a", 1e6, std::nan("")}, {"b", 2e6, 3}});
  cells[0].accuracy = Accuracy::kFailNumeric;
  cells[1].accuracy = Accuracy::kNotChecked;
  const auto found = find_trade_offs(cells);
  EXPECT_EQ(found.at(0).text, "none of 2 timed cases keeps accuracy");
  EXPECT_THAT(front(found.at(0)), ElementsAre("b"));
}

TEST(TradeOff, CallsWhatHasNoErrorExact) {
  const auto found = find_trade_offs(cells_at({{"a", 1e6, HUGE_VAL}, {"b", 2e6, 3}}));
  EXPECT_EQ(found.at(0).text, "fastest that keeps accuracy: a, 1 ms, exact");
}

TEST(TradeOff, KeepsModelsApartAndLeavesOutThoseWithOnePoint) {
  auto cells = cells_at({{"a", 1e6, 20, 0, "x"}, {"b", 2e6, 30, 0, "x"}, {"a", 1e6, 20, 0, "y"}});
  cells.push_back(cell_at({"late", 5e6, 50, 0, "y"}));
  cells.back().metrics.erase("steady_ns");
  const auto found = find_trade_offs(cells);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].model, "x");
  EXPECT_THAT(find_trade_offs({}), IsEmpty());
}

TEST(TradeOff, TakesTheReferenceThatMostCasesHave) {
  const std::vector<CaseSummary> cells = {cell_at({"a", 1e6, 20}, "file"),
                                          cell_at({"b", 2e6, 30}, "file"), cell_at({"c", 3e6, 40})};
  const auto found = find_trade_offs(cells);
  EXPECT_EQ(found.at(0).against, "file");
  EXPECT_THAT(found.at(0).points, SizeIs(2));
}

TEST(TradeOff, PrefersAccuracyOnLabels) {
  auto cells = cells_at({{"a", 1e6, 20}, {"b", 2e6, 30}});
  for (auto& cell : cells) {
    cell.metrics["top1_accuracy"] = {.value = 0.7, .count = 1};
  }
  EXPECT_EQ(find_trade_offs(cells).at(0).metric, "top1_accuracy");
}

TEST(TradeOff, NamesOptionsAndBuildsWhereTheyDiffer) {
  auto cells = cells_at({{"a", 1e6, 20}, {"a", 2e6, 30}});
  cells[0].options = "threads=4";
  cells[1].options = "threads=1";
  EXPECT_EQ(find_trade_offs(cells).at(0).points.at(0).title, "a threads=4");
  cells[0].options = cells[1].options;
  cells[0].engine = "executorch@mine";
  EXPECT_EQ(find_trade_offs(cells).at(0).points.at(0).title, "a executorch@mine");
}

/// Makes the cases tell their accuracy by the relative error of which SQNR is the logarithm.
std::vector<CaseSummary> by_relative_error(std::vector<CaseSummary> cells) {
  const auto error_of = [](double sqnr_db) { return std::pow(10, -sqnr_db / 20); };
  for (auto& cell : cells) {
    const double sqnr = double_from_metric(
        {.value = cell.metrics.at("sqnr_db").value, .special = cell.metrics.at("sqnr_db").special});
    const auto error = make_metric("relative_l2_error", error_of(sqnr));
    cell.metrics.erase("sqnr_db");
    cell.metrics["relative_l2_error"] = {
        .value = error.value, .count = 1, .special = error.special};
    for (auto& output : cell.accuracy_tables.at(0).outputs) {
      output.metrics = {{"relative_l2_error", error}};
      const auto bound = output.bounds.find("sqnr_db");
      output.bounds =
          bound == output.bounds.end()
              ? std::map<std::string, double>()
              : std::map<std::string, double>{{"relative_l2_error", error_of(bound->second)}};
    }
  }
  return cells;
}

TEST(TradeOff, TakesAnErrorAsTheRatioThatIsBetterWhenHigher) {
  const std::vector<std::vector<Point>> tables = {
      {{"slow", 9e6, 90}, {"fp32", 4e6, 120}, {"int8", 1e6, 20}, {"worse", 2e6, 12}},
      {{"a", 1e6, 20}, {"b", 1e6, 30}, {"c", 1e6, 30}},
      {{"exact", 3e6, HUGE_VAL}, {"nan", 1e6, NAN}, {"int8", 2e6, -4}}};
  for (const auto& table : tables) {
    auto cells = cells_at(table);
    cells[0].accuracy_tables[0].outputs.push_back(cells[0].accuracy_tables[0].outputs[0]);
    cells[0].accuracy_tables[0].outputs[0].bounds = {{"sqnr_db", 8}};
    cells[0].accuracy_tables[0].outputs[1].bounds = {{"sqnr_db", 10}};
    const auto ratio = find_trade_offs(cells).at(0);
    const auto error = find_trade_offs(by_relative_error(cells)).at(0);
    EXPECT_EQ(error.metric, "relative_l2_error");
    ASSERT_EQ(error.points.size(), ratio.points.size());
    EXPECT_EQ(front(error), front(ratio));
    for (std::size_t i = 0; i < ratio.points.size(); ++i) {
      EXPECT_EQ(error.points[i].title, ratio.points[i].title);
      ASSERT_EQ(error.points[i].bound.has_value(), ratio.points[i].bound.has_value());
      if (ratio.points[i].bound) {
        EXPECT_DOUBLE_EQ(-20 * std::log10(*error.points[i].bound), *ratio.points[i].bound);
      }
    }
    EXPECT_EQ(error.text.contains("exact, "), ratio.text.contains("exact, "));
  }
}

}  // namespace
}  // namespace assay
