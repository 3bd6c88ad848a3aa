#include "assay/report/case_text.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <vector>

#include "assay/record/axes.h"
#include "assay/record/metric.h"
#include "assay/record/summary.h"
#include "assay/report/testing/sample_summary.h"
#include "assay/report/text_table.h"

namespace assay::report {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

CaseSummary completed(Verdict verdict) {
  CaseSummary cell;
  cell.outcome = Outcome::kCompleted;
  cell.verdict = verdict;
  cell.timing = Timing::kSteady;
  return cell;
}

std::vector<std::string> titles_of(const TextTable& table) {
  std::vector<std::string> titles;
  std::ranges::transform(table.columns, std::back_inserter(titles), &TextColumn::title);
  return titles;
}

TEST(Cause, NamesTheAxisThatDecided) {
  EXPECT_EQ(cause_of(completed(Verdict::kPass)), "");
  auto cell = completed(Verdict::kFail);
  cell.gates = {{.is_met = false}};
  EXPECT_EQ(cause_of(cell), "gate");
  cell.accuracy = Accuracy::kFailNumeric;
  EXPECT_EQ(cause_of(cell), "accuracy");
  cell.outcome = Outcome::kOutOfMemory;
  EXPECT_EQ(cause_of(cell), "out of memory");
  EXPECT_EQ(report::result_of(cell), "fail: out of memory");
}

TEST(Cause, TellsVacuousFromUnsteady) {
  auto cell = completed(Verdict::kInconclusive);
  cell.timing = Timing::kUnsteady;
  EXPECT_EQ(cause_of(cell), "unsteady");
  cell.accuracy = Accuracy::kVacuous;
  EXPECT_EQ(cause_of(cell), "vacuous");
}

TEST(Cause, SaysOfAPassThatItsTimeIsUnsteadyAndNothingOfOneThatIsOpen) {
  auto cell = completed(Verdict::kPass);
  cell.timing = Timing::kUnsteady;
  EXPECT_EQ(report::result_of(cell), "pass: unsteady");
  cell.timing = Timing::kInconclusive;
  EXPECT_EQ(report::result_of(cell), "pass") << "its mark says how far it may be off";
  EXPECT_THAT(findings_of(cell), testing::IsEmpty());
}

TEST(Cause, SaysOfAPassThatItsTimesAreAnEmulators) {
  auto cell = completed(Verdict::kPass);
  cell.timing = Timing::kEmulated;
  EXPECT_EQ(report::result_of(cell), "pass: emulated");
}

TEST(Cause, TellsAReferenceThatIsNotThere) {
  auto cell = completed(Verdict::kInconclusive);
  cell.accuracy_tables = {{.against = "engine:litert",
                           .accuracy = Accuracy::kNotChecked,
                           .reason = "there is no such reference: it crashed"}};
  EXPECT_EQ(cause_of(cell), "not checked");
  EXPECT_THAT(findings_of(cell), ElementsAre("accuracy against engine:litert: not checked: there "
                                             "is no such reference: it crashed"));
}

TEST(Findings, TellOutcomeStageReasonTextAndLastWords) {
  const auto summary = sample_summary();
  const auto crashed = *std::ranges::find(summary.cases, Outcome::kCrashed, &CaseSummary::outcome);
  const auto findings = findings_of(crashed);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0],
            "crashed at first (SIGSEGV): the runner was ended by SIGSEGV in its first inference");
  EXPECT_THAT(findings[1], HasSubstr("Check failed"));
  EXPECT_THAT(findings[1], testing::Not(HasSubstr("\x1b")));
}

TEST(Findings, ShowTheIntervalOfAnInconclusiveTime) {
  auto cell = completed(Verdict::kInconclusive);
  cell.timing = Timing::kInconclusive;
  cell.metrics["steady_ns"] = {
      .value = 4.91e6, .low = 3.88e6, .high = 6.25e6, .confidence = 0.75, .count = 3};
  EXPECT_THAT(findings_of(cell),
              ElementsAre("timing inconclusive: 4.91 ms, 75 % interval [3.88, 6.25], 3 launches"));
}

TEST(Findings, AreEmptyForAPlainPass) {
  EXPECT_TRUE(findings_of(completed(Verdict::kPass)).empty());
}

TEST(Worst, FollowsTheSenseOfTheMetricAndNanIsWorst) {
  auto cell = completed(Verdict::kPass);
  const auto output = [](double db) {
    OutputError error;
    error.metrics["sqnr_db"] = make_metric("sqnr_db", db);
    return error;
  };
  cell.accuracy_tables = {{.against = "float32", .outputs = {output(40), output(20)}},
                          {.against = "qdq", .outputs = {output(60), output(std::nan(""))}}};
  EXPECT_EQ(find_worst(cell, "float32", "sqnr_db")->value, 20);
  EXPECT_EQ(find_worst(cell, "qdq", "sqnr_db")->special, "nan");
  EXPECT_EQ(find_worst(cell, "float64", "sqnr_db"), nullptr);
}

TEST(Worst, IsNeverRoundedToTheLimitThatItMisses) {
  const auto text = [](double value, double limit) {
    return text_of_error({.output = "y",
                          .metrics = {{"sqnr_db", make_metric("sqnr_db", value)}},
                          .bounds = {{"sqnr_db", limit}}},
                         "sqnr_db");
  };
  EXPECT_EQ(text(7.9996, 8), "7.9996 (≥ 8)");
  EXPECT_EQ(text(8, 8), "8.00 (≥ 8)");
  EXPECT_EQ(text(12.8, 8), "12.8 (≥ 8)");
}

TEST(Worst, BoundIsTheStrictestOfAllOutputs) {
  CaseSummary cell;
  const auto output = [](double least_db, double most) {
    return OutputError{
        .output = "y", .metrics = {}, .bounds = {{"sqnr_db", least_db}, {"max_abs_error", most}}};
  };
  cell.accuracy_tables = {
      {.against = "float32", .outputs = {output(30, 0.5), output(8, 0.125), output(20, 2)}}};
  EXPECT_EQ(decisive_bounds(cell).at("float32.sqnr_db"), ">=30");
  EXPECT_EQ(decisive_bounds(cell).at("float32.max_abs_error"), "<=0.125");
}

TEST(Tally, CountsVerdictsThatOccur) {
  EXPECT_EQ(
      tally_of({completed(Verdict::kFail), completed(Verdict::kPass), completed(Verdict::kFail)}),
      "1 pass, 2 fail");
}

TEST(When, SaysThatARunIsNotFinished) { EXPECT_EQ(when_of({.seed = 7}), "not finished, seed 7"); }

TEST(CaseTable, LeavesOutWhatNobodyMeasured) {
  RunSummary summary;
  summary.cases = {completed(Verdict::kPass)};
  std::vector<std::string> common;
  EXPECT_THAT(titles_of(case_table(summary, common)), ElementsAre("recipe", "result"));
}

TEST(CaseTable, SaysOnceWhatAllRowsShare) {
  RunSummary summary;
  summary.cases = {completed(Verdict::kPass), completed(Verdict::kPass)};
  for (auto& cell : summary.cases) {
    cell.engine = "executorch@1.5.1";
    cell.recipe = "executorch/a";
  }
  summary.cases[0].options = "threads=1";
  summary.cases[1].options = "threads=2";
  std::vector<std::string> common;
  const auto table = case_table(summary, common);
  EXPECT_THAT(common, ElementsAre("engine executorch@1.5.1"));
  EXPECT_THAT(titles_of(table), Contains("options"));
  EXPECT_EQ(table.columns[0].unit, "executorch/…");
  EXPECT_EQ(table.columns[0].cells[0].text, "a");
}

TEST(CaseTable, HasTheDeviceOfEachCaseOfARunOnSeveral) {
  RunSummary summary;
  summary.cases = {completed(Verdict::kPass), completed(Verdict::kPass)};
  summary.cases[0].device = "a";
  summary.cases[1].device = "b";
  summary.devices["a"].cpu_model = "Cortex-A76";
  summary.devices["b"].cpu_model = "Cortex-A72";
  std::vector<std::string> common;
  const auto table = case_table(summary, common);
  EXPECT_THAT(titles_of(table), Contains("device"));
  EXPECT_EQ(table.columns[1].cells[1].text, "b");
  EXPECT_THAT(machines_of(summary), ElementsAre("a: Cortex-A76", "b: Cortex-A72"));
  EXPECT_EQ(environment_of(summary, summary.cases[1]).cpu_model, "Cortex-A72");
}

TEST(CaseTable, KeepsModelsTogether) {
  RunSummary summary;
  summary.cases = {completed(Verdict::kPass), completed(Verdict::kPass), completed(Verdict::kPass)};
  summary.cases[0].model = "a";
  summary.cases[1].model = "b";
  summary.cases[2].model = "a";
  std::vector<std::string> common;
  const auto table = case_table(summary, common);
  ASSERT_EQ(table.groups.size(), 2U);
  EXPECT_EQ(table.groups[1].first_row, 2U);
  EXPECT_EQ(table.groups[1].title, "b");
}

TEST(CaseTable, TellsCoverageAndCountInEachRowWhenTheyDiffer) {
  RunSummary summary;
  for (const int count : {3, 6}) {
    auto cell = completed(Verdict::kPass);
    cell.metrics["steady_ns"] = {.value = 5e6,
                                 .low = 4e6,
                                 .high = 6e6,
                                 .confidence = count == 3 ? 0.75 : 0.96875,
                                 .count = count};
    summary.cases.push_back(cell);
  }
  std::vector<std::string> common;
  const auto table = case_table(summary, common);
  EXPECT_THAT(titles_of(table), Contains("n"));
  const auto interval = std::ranges::find(table.columns, "interval", &TextColumn::title);
  EXPECT_EQ(interval->cells[1].text, "[4.00, 6.00] 96.9 %");
}

}  // namespace
}  // namespace assay::report
