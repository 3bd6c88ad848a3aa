#include "assay/report/conformance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/conformance.h"
#include "assay/report/conformance_text.h"
#include "assay/report/coverage.h"
#include "assay/report/format.h"
#include "assay/report/testing/sample_conformance.h"
#include "assay/report/writer.h"

namespace assay {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string written_conformance(const std::string& format,
                                const ConformReport& report = report::sample_conformance(),
                                const ReportStyle& style = {}) {
  std::ostringstream out;
  const auto status = write_conformance(format, report, style, out);
  EXPECT_TRUE(status) << status.error().message;
  return out.str();
}

TEST(ConformanceReport, KnowsEveryFormatThatReportsHave) {
  for (const auto& format : report_formats()) {
    EXPECT_FALSE(written_conformance(std::string(format.name)).empty()) << format.name;
    // A line for each result: of none, none.
    EXPECT_EQ(written_conformance(std::string(format.name), {}).empty(), format.name == "jsonl")
        << format.name;
  }
  std::ostringstream out;
  EXPECT_EQ(write_conformance("xls", report::sample_conformance(), {}, out).error().code,
            ErrorCode::kNotFound);
}

std::string coverage_as(const std::string& format) {
  std::ostringstream out;
  const auto status = write_coverage(format, report::sample_conformance().coverage, {}, out);
  return status ? out.str() : status.error().message;
}

TEST(Coverage, BeginsWithWhatHasNoCase) {
  const auto text = coverage_as("md");
  EXPECT_THAT(text, HasSubstr("1 of 3 operators have 2 cases"));
  EXPECT_LT(text.find("aten.cfft"), text.find("aten.rfft"));
  EXPECT_LT(text.find("aten.rfft"), text.find("aten.add"));
  EXPECT_THAT(text, HasSubstr("complex"));
  EXPECT_THAT(coverage_as("console"), HasSubstr("why none"));
  EXPECT_THAT(coverage_as("csv"),
              AllOf(HasSubstr("operator,cases,reason"), HasSubstr("aten.cfft,0,complex")));
  const auto json = Json::parse(coverage_as("json"));
  EXPECT_EQ(json.at("coverage").size(), 3U);
  EXPECT_THAT(coverage_as("junit"), HasSubstr("console, md, csv or json"));
}

TEST(ConformanceReport, ConsoleShowsWhatIsNewAndWhatIsNot) {
  const auto text =
      written_conformance("console", report::sample_conformance(), {.is_verbose = true});
  EXPECT_THAT(text, HasSubstr("2 pass, 1 vacuous, 1 fail_numeric, 1 crashed, 1 not_run"));
  EXPECT_THAT(text, HasSubstr("aten.add/float32/1 executorch/portable: fail_numeric: output 0"));
  EXPECT_THAT(text, HasSubstr("passes although it is listed"));
  EXPECT_THAT(text, Not(HasSubstr("aten.mul/float32/0 executorch/portable: crashed")));
  EXPECT_THAT(text, HasSubstr("newly failing: aten.add/float32/1"));
  EXPECT_THAT(text, HasSubstr("newly passing: aten.sub/float32/0"));
  EXPECT_THAT(text, HasSubstr("1 of 3 operators"));
  EXPECT_THAT(text, HasSubstr("none: aten.rfft, aten.cfft (complex)"));
  EXPECT_THAT(text, HasSubstr("--update-known"));
  EXPECT_THAT(text, HasSubstr("pass alone but failed in a joint program"));
  EXPECT_THAT(text, HasSubstr("0.50 results/s"));
  EXPECT_THAT(text, HasSubstr("75.0"));  // Percentage of delegated nodes.
}

/// The sample, and all of it again on another build, where every case passes.
ConformReport conformance_on_two_builds() {
  auto report = report::sample_conformance();
  auto others = report.results;
  for (auto& result : others) {
    result.engine = "executorch@2";
    result.verdict = ConformVerdict::kPass;
    result.known = KnownGap::kNone;
  }
  report.results.insert(report.results.end(), others.begin(), others.end());
  return report;
}

TEST(ConformanceReport, TellsBuildsOfOneRecipeApart) {
  const auto report = conformance_on_two_builds();
  for (const std::string at : {"@", "&#64;"}) {
    const auto text = written_conformance(at == "@" ? "console" : "md", report);
    const auto first = "executorch/portable executorch" + at + "1";
    EXPECT_THAT(text,
                AllOf(HasSubstr(first), HasSubstr("executorch/portable executorch" + at + "2")));
    EXPECT_THAT(text, HasSubstr("float32/1 " + first + ": "));
    EXPECT_THAT(text, HasSubstr(first + ": 1 known failure"));
  }
  const auto junit = written_conformance("junit", report);
  const std::regex opening("<testcase classname=\"[^\"]*\" name=\"[^\"]*\"");
  std::set<std::string> tests;
  for (std::sregex_iterator at(junit.begin(), junit.end(), opening), end; at != end; ++at) {
    tests.insert(at->str());
  }
  EXPECT_EQ(tests.size(), report.results.size());
  EXPECT_THAT(written_conformance("junit"), Not(HasSubstr("executorch@1"))) << "of one build";
}

TEST(ConformanceReport, ConsoleNamesTheFailuresThatTheListsExpect) {
  auto report = report::sample_conformance();
  for (int i = 0; i < 12; ++i) {
    report.results.push_back({.name = "aten.op" + std::to_string(i) + "/float32/0",
                              .recipe = "executorch/portable",
                              .verdict = ConformVerdict::kUnsupported,
                              .known = KnownGap::kUnsupported});
  }
  report.results.push_back(report.results[2]);
  const auto brief = written_conformance("console", report);
  EXPECT_THAT(brief, HasSubstr("executorch/portable: 2 known failures: aten.mul (2)\n"));
  EXPECT_THAT(brief, HasSubstr("12 cases listed as unsupported: aten.op0, aten.op1, "));
  EXPECT_THAT(brief, HasSubstr(" and 4 more"));
  const auto full = written_conformance("console", report, {.is_verbose = true});
  EXPECT_THAT(full, AllOf(HasSubstr("aten.op9"), Not(HasSubstr("more"))));
}

TEST(ConformanceReport, ConsoleShowsTheCoverageOfTheSuiteOnRequestOnly) {
  EXPECT_THAT(written_conformance("console"), Not(HasSubstr("Coverage")));
  EXPECT_THAT(written_conformance("md"), HasSubstr("Coverage"));
}

TEST(ConformanceReport, ConsoleKeepsToItsWidthAndCutsLongLists) {
  auto report = report::sample_conformance();
  for (int i = 0; i < 100; ++i) {
    report.results.push_back({.name = "aten.long_name_of_an_operator/float32/" + std::to_string(i),
                              .recipe = "executorch/portable",
                              .verdict = ConformVerdict::kCrashed,
                              .text = "Segmentation fault",
                              .known = KnownGap::kNewFailure});
  }
  const auto text = written_conformance("console", report, {.width_columns = 80});
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(report::display_width(line), 80U) << line;
  }
  EXPECT_THAT(text, HasSubstr("and 91 more; -v shows all"));
}

TEST(ConformanceReport, NarrowConsoleKeepsWrongAnswersLongerThanRefusals) {
  auto report = report::sample_conformance();
  for (const auto verdict : {ConformVerdict::kUnsupported, ConformVerdict::kFailNondeterministic,
                             ConformVerdict::kAotError, ConformVerdict::kLoadError}) {
    report.results.push_back({.name = "aten.neg/float32/0",
                              .recipe = "executorch/portable",
                              .verdict = verdict,
                              .known = KnownGap::kKnownFailure});
  }
  const auto text = written_conformance("console", report, {.width_columns = 80});
  const auto begin = text.find("  recipe ");
  ASSERT_NE(begin, std::string::npos) << text;
  const auto titles = text.substr(begin, text.find('\n', begin) - begin);
  EXPECT_THAT(titles, AllOf(HasSubstr("pass"), HasSubstr("fail_numeric"), HasSubstr("crashed"),
                            HasSubstr("known"), Not(HasSubstr("unsupported"))));
}

TEST(ConformanceReport, JsonHoldsEveryResultAndReadsBack) {
  const auto json = Json::parse(written_conformance("json"));
  EXPECT_EQ(json.at("schema"), "assay/conformance/1");
  ASSERT_EQ(json.at("results").size(), 6U);
  EXPECT_EQ(json.at("results")[1].at("verdict"), "fail_numeric");
  EXPECT_EQ(json.at("results")[1].at("error_bound_ratio").at("special"), "inf");
  EXPECT_EQ(json.get<ConformReport>().results[2].known, KnownGap::kKnownFailure);
  std::istringstream lines(written_conformance("jsonl"));
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_EQ(Json::parse(line).at("schema"), "assay/conformance-case/1");
  }
  EXPECT_EQ(count, 6);
}

TEST(ConformanceReport, CsvHasARowForEachResult) {
  std::istringstream lines(written_conformance("csv"));
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
  const auto xml = written_conformance("junit");
  EXPECT_THAT(xml, HasSubstr("tests=\"6\" failures=\"2\" errors=\"1\" skipped=\"2\""));
  EXPECT_THAT(xml, HasSubstr("&lt;wrong&gt; &amp; &quot;worse&quot;"));
  EXPECT_THAT(xml, HasSubstr("crashed, known: a null pointer"));
  EXPECT_THAT(written_conformance("junit", {}),
              HasSubstr("errors=\"1\""));  // Nothing is no success.
}

TEST(ConformanceReport, PageHoldsItsDataAndNothingThatEndsIt) {
  auto report = report::sample_conformance();
  report.results[1].text = "</script><script>alert(1)</script>";
  const auto page = written_conformance("html", report);
  EXPECT_THAT(page, AllOf(HasSubstr("heatMap"), HasSubstr("assay/conformance/1"),
                          HasSubstr("\\u003c/script>")));
  EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>")));
}

TEST(ConformanceText, SaysInWhichWayAVerdictChanged) {
  auto report = report::sample_conformance();
  report.changes = {{"a", "r", "", ConformVerdict::kCrashed, ConformVerdict::kRunError}};
  EXPECT_THAT(report::lines_of_changes(report),
              ElementsAre("fails otherwise: a r: run_error, was crashed"));
  report.changes.clear();
  EXPECT_THAT(report::lines_of_changes(report), IsEmpty());
}

}  // namespace
}  // namespace assay
