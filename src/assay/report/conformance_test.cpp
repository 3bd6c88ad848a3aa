#include "assay/report/conformance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/record/conformance.h"
#include "assay/record/metric.h"
#include "assay/report/conformance_text.h"
#include "assay/report/format.h"
#include "assay/report/writer.h"

namespace assay {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

ConformResult result_of(const std::string& name, ConformVerdict verdict,
                        KnownGap known = KnownGap::kNone) {
  return {.name = name,
          .operator_name = name.substr(0, name.find('/')),
          .dtype = "float32",
          .shape_class = "odd",
          .values = "normal",
          .recipe = "executorch/portable",
          .engine = "executorch@1",
          .case_key = "key-of-" + name,
          .verdict = verdict,
          .stage = Stage::kDone,
          .text = "output 0: <wrong> & \"worse\"",
          .delegation = Delegation::kPartial,
          .nodes_delegated = 3,
          .nodes_not_delegated = 1,
          .known = known,
          .command = "assay eval aten:x --args '{\"a\":1}'"};
}

ConformReport sample() {
  ConformReport report;
  report.run = {.id = "run-2", .purpose = "conform", .started_unix_ns = 1'700'000'000'000'000'000};
  report.environment.cpu_model = "Test CPU";
  report.suite = "operators";
  report.tier = "quick";
  report.results = {
      result_of("aten.add/float32/0", ConformVerdict::kPass),
      result_of("aten.add/float32/1", ConformVerdict::kFailNumeric, KnownGap::kNewFailure),
      result_of("aten.mul/float32/0", ConformVerdict::kCrashed, KnownGap::kKnownFailure),
      result_of("aten.sub/float32/0", ConformVerdict::kPass, KnownGap::kUnexpectedPass),
      result_of("aten.fft/float32/0", ConformVerdict::kVacuous, KnownGap::kNewFailure),
      result_of("aten.div/float32/0", ConformVerdict::kNotRun),
  };
  report.results[2].known_reason = "a null pointer";
  report.results[2].last_words = "\x1b[31mAborted";
  report.results[0].was_in_joint = ConformVerdict::kVacuous;
  report.results[1].error_bound_ratio =
      make_metric("error_bound_ratio", std::numeric_limits<double>::infinity());
  report.coverage = {{"aten.add", 2, ""}, {"aten.rfft", 0, "complex"}, {"aten.cfft", 0, "complex"}};
  report.stages = {{"artifacts", 8.0, 4}, {"evaluate", 1.0, 4}};
  report.seconds = 10;
  report.joint_programs = 3;
  report.alone_programs = 1;
  report.earlier_run = "run-1";
  report.changes = {{"aten.add/float32/1", "executorch/portable", "", ConformVerdict::kPass,
                     ConformVerdict::kFailNumeric},
                    {"aten.sub/float32/0", "executorch/portable", "", ConformVerdict::kCrashed,
                     ConformVerdict::kPass}};
  report.stale = {{"executorch/portable", "aten.sub/float32/0", "it passes"}};
  return report;
}

std::string written(const std::string& format, const ConformReport& report = sample(),
                    const ReportStyle& style = {}) {
  std::ostringstream out;
  const auto status = write_conformance(format, report, style, out);
  EXPECT_TRUE(status) << status.error().message;
  return out.str();
}

TEST(ConformanceReport, KnowsEveryFormatThatReportsHave) {
  for (const auto& format : report_formats()) {
    EXPECT_FALSE(written(std::string(format.name)).empty()) << format.name;
    EXPECT_FALSE(written(std::string(format.name), {}).empty()) << format.name;
  }
  std::ostringstream out;
  EXPECT_EQ(write_conformance("xls", sample(), {}, out).error().code, ErrorCode::kNotFound);
}

TEST(ConformanceReport, ConsoleShowsWhatIsNewAndWhatIsNot) {
  const auto text = written("console");
  EXPECT_THAT(text, HasSubstr("2 pass, 1 vacuous, 1 fail_numeric, 1 crashed, 1 not_run"));
  EXPECT_THAT(text, HasSubstr("aten.add/float32/1 executorch/portable: fail_numeric: output 0"));
  EXPECT_THAT(text, HasSubstr("passes, though it is listed"));
  EXPECT_THAT(text, Not(HasSubstr("aten.mul/float32/0 executorch/portable: crashed")));
  EXPECT_THAT(text, HasSubstr("newly failing: aten.add/float32/1"));
  EXPECT_THAT(text, HasSubstr("newly passing: aten.sub/float32/0"));
  EXPECT_THAT(text, HasSubstr("1 of 3 operators"));
  EXPECT_THAT(text, HasSubstr("none: aten.rfft, aten.cfft (complex)"));
  EXPECT_THAT(text, HasSubstr("--update-known"));
  EXPECT_THAT(text, HasSubstr("pass alone, and did not in a program with others"));
  EXPECT_THAT(text, HasSubstr("0.50 results/s"));
  EXPECT_THAT(text, HasSubstr("75.0"));  // Of nodes delegated.
}

TEST(ConformanceReport, ConsoleKeepsToItsWidthAndCutsLongLists) {
  auto report = sample();
  for (int i = 0; i < 100; ++i) {
    report.results.push_back(result_of("aten.long_name_of_an_operator/float32/" + std::to_string(i),
                                       ConformVerdict::kCrashed, KnownGap::kNewFailure));
  }
  const auto text = written("console", report, {.width_columns = 80});
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(report::display_width(line), 80U) << line;
  }
  EXPECT_THAT(text, HasSubstr("and 63 more"));
}

TEST(ConformanceReport, JsonHoldsEveryResultAndReadsBack) {
  const auto json = Json::parse(written("json"));
  EXPECT_EQ(json.at("schema"), "assay/conformance/1");
  ASSERT_EQ(json.at("results").size(), 6U);
  EXPECT_EQ(json.at("results")[1].at("verdict"), "fail_numeric");
  EXPECT_EQ(json.at("results")[1].at("error_bound_ratio").at("special"), "inf");
  EXPECT_EQ(json.get<ConformReport>().results[2].known, KnownGap::kKnownFailure);
  std::istringstream lines(written("jsonl"));
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_EQ(Json::parse(line).at("schema"), "assay/conformance-case/1");
  }
  EXPECT_EQ(count, 6);
}

TEST(ConformanceReport, CsvHasARowForEachResult) {
  std::istringstream lines(written("csv"));
  std::string head;
  std::string first;
  std::getline(lines, head);
  std::getline(lines, first);
  EXPECT_THAT(head, HasSubstr("case,case_key,operator,dtype,shape_class"));
  EXPECT_THAT(first,
              HasSubstr("aten.add/float32/0,key-of-aten.add/float32/0,aten.add,float32,odd"));
  EXPECT_THAT(first, HasSubstr("\"assay eval aten:x --args '{\"\"a\"\":1}'\""));
}

TEST(ConformanceReport, JunitFailsWhereTheRunSpeaksAgainstTheLists) {
  const auto xml = written("junit");
  EXPECT_THAT(xml, HasSubstr("tests=\"6\" failures=\"2\" errors=\"1\" skipped=\"2\""));
  EXPECT_THAT(xml, HasSubstr("&lt;wrong&gt; &amp; &quot;worse&quot;"));
  EXPECT_THAT(xml, HasSubstr("crashed, known: a null pointer"));
  EXPECT_THAT(written("junit", {}), HasSubstr("errors=\"1\""));  // Nothing is no success.
}

TEST(ConformanceReport, PageHoldsItsDataAndNothingThatEndsIt) {
  auto report = sample();
  report.results[1].text = "</script><script>alert(1)</script>";
  const auto page = written("html", report);
  EXPECT_THAT(page, AllOf(HasSubstr("heatMap"), HasSubstr("assay/conformance/1"),
                          HasSubstr("\\u003c/script>")));
  EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>")));
}

TEST(ConformanceText, SaysInWhichWayAVerdictChanged) {
  auto report = sample();
  report.changes = {{"a", "r", "", ConformVerdict::kCrashed, ConformVerdict::kRunError}};
  EXPECT_THAT(report::lines_of_changes(report),
              ElementsAre("fails otherwise: a r: run_error, was crashed"));
  report.changes.clear();
  EXPECT_THAT(report::lines_of_changes(report), IsEmpty());
}

}  // namespace
}  // namespace assay
