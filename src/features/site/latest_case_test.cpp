#include "features/site/latest_case.h"

#include "features/site/index_rows.h"

#include <gtest/gtest.h>
#include <map>
#include <string>

#include "assay/record/axes.h"
#include "assay/record/metric.h"
#include "assay/record/summary.h"

namespace assay::site {
namespace {

CaseRow row_of(const std::string& run, std::int64_t started, const CaseSummary& summary) {
  return {.run = run, .started_unix_ns = started, .summary = summary};
}

CaseSummary checked_against(const std::string& kind, Accuracy accuracy) {
  CaseSummary summary{.outcome = Outcome::kCompleted, .accuracy = accuracy};
  summary.accuracy_tables = {{.against = kind, .accuracy = accuracy}};
  summary.verdict = accuracy == Accuracy::kPass ? Verdict::kPass : Verdict::kFail;
  return summary;
}

TEST(LatestCase, EveryMetricBelongsToAQuantity) {
  for (const auto& definition : metric_definitions()) {
    const std::string name(definition.name);
    EXPECT_NE(quantity_of_metric(name), name) << "it would be replaced apart from its pass";
  }
  EXPECT_EQ(quantity_of_metric("program:tokens_per_s"), "times");
  EXPECT_EQ(quantity_of_metric("load_compile_ns"), "times");
  EXPECT_EQ(quantity_of_metric("sqnr_db"), "accuracy float32");
  EXPECT_EQ(quantity_of_metric("engine:onnxruntime@1.2.sqnr_db"),
            "accuracy engine:onnxruntime@1.2");
}

TEST(LatestCase, WrongOutputsStayWrongWhenTimesAreMeasuredLater) {
  const auto wrong = row_of("eval", 1, checked_against("float32", Accuracy::kFailNumeric));
  CaseSummary timed{.outcome = Outcome::kCompleted, .timing = Timing::kSteady};
  timed.metrics["steady_ns"] = {.value = 5};
  timed.verdict = Verdict::kPass;
  const auto bench = row_of("bench", 2, timed);
  const auto latest =
      latest_from_rows({{"result", &bench}, {"times", &bench}, {"accuracy float32", &wrong}});
  EXPECT_EQ(latest.row.run, "bench");
  EXPECT_EQ(latest.row.summary.accuracy, Accuracy::kFailNumeric);
  EXPECT_EQ(latest.row.summary.verdict, Verdict::kFail);
  EXPECT_EQ(latest.row.summary.timing, Timing::kSteady);
  EXPECT_EQ(latest.source_of_quantity("accuracy float32").run, "eval");
}

TEST(LatestCase, APassStaysOneHoweverUnsureItsTimeIs) {
  CaseSummary timed{.outcome = Outcome::kCompleted, .timing = Timing::kUnsteady};
  timed.verdict = Verdict::kPass;
  const auto bench = row_of("bench", 1, timed);
  const auto eval = row_of("eval", 2, checked_against("float32", Accuracy::kPass));
  const auto latest =
      latest_from_rows({{"result", &eval}, {"times", &bench}, {"accuracy float32", &eval}});
  EXPECT_EQ(latest.row.summary.timing, Timing::kUnsteady);
  EXPECT_EQ(latest.row.summary.verdict, Verdict::kPass);
}

TEST(LatestCase, ATimeOfZeroIsNoPassBesideALaterComparison) {
  CaseSummary timed{.outcome = Outcome::kCompleted, .timing = Timing::kInconclusive};
  timed.metrics["steady_ns"] = {.value = 0};
  timed.verdict = Verdict::kInconclusive;
  const auto bench = row_of("bench", 1, timed);
  const auto eval = row_of("eval", 2, checked_against("float32", Accuracy::kPass));
  const auto latest =
      latest_from_rows({{"result", &eval}, {"times", &bench}, {"accuracy float32", &eval}});
  EXPECT_EQ(latest.row.summary.verdict, Verdict::kInconclusive) << "as the run's own report has it";
}

TEST(LatestCase, AccuracyIsTheWorstOverTheReferences) {
  const auto exact = row_of("a", 1, checked_against("float32", Accuracy::kFailNumeric));
  const auto quantized = row_of("b", 2, checked_against("qdq", Accuracy::kPass));
  const auto latest = latest_from_rows(
      {{"result", &quantized}, {"accuracy float32", &exact}, {"accuracy qdq", &quantized}});
  EXPECT_EQ(latest.row.summary.accuracy, Accuracy::kFailNumeric);
  EXPECT_EQ(latest.row.summary.accuracy_tables.size(), 2U);
}

TEST(LatestCase, AFailureKeepsTheTimesOfBefore) {
  CaseSummary timed{.outcome = Outcome::kCompleted};
  timed.metrics["steady_ns"] = {.value = 5};
  timed.gates = {{.metric = "steady_ns", .bound = "<=9 ns", .is_met = true}};
  const auto bench = row_of("bench", 1, timed);
  CaseSummary broken{.outcome = Outcome::kAotError, .verdict = Verdict::kFail};
  broken.gates = {{.metric = "steady_ns", .bound = "<=9 ns"}};
  const auto eval = row_of("eval", 2, broken);
  const auto latest = latest_from_rows({{"result", &eval}, {"times", &bench}});
  EXPECT_EQ(latest.row.summary.outcome, Outcome::kAotError);
  EXPECT_EQ(latest.row.summary.verdict, Verdict::kFail);
  EXPECT_EQ(latest.row.summary.metrics.at("steady_ns").value, 5);
  ASSERT_EQ(latest.row.summary.gates.size(), 1U);
  EXPECT_TRUE(latest.row.summary.gates.front().is_met) << "the bound of the run with the times";
  EXPECT_EQ(latest.source_of("steady_ns").outcome, Outcome::kCompleted);
}

TEST(LatestCase, AStoppedCaseHasNoResult) {
  CaseSummary stopped{.outcome = Outcome::kSkipped};
  stopped.reason_code = "unfinished";
  stopped.metrics["steady_ns"] = {.value = 5};
  stopped.metrics["peak_rss_bytes"] = {.value = 5};
  std::map<std::string, bool> sound;
  for (const auto& quantity : quantities_of(stopped)) {
    sound[quantity.name] = quantity.is_sound;
  }
  EXPECT_EQ(sound,
            (std::map<std::string, bool>{{"result", false}, {"times", false}, {"memory", true}}));
}

}  // namespace
}  // namespace assay::site
