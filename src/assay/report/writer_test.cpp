#include "assay/report/writer.h"

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ios>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/metric.h"
#include "assay/record/summary.h"
#include "assay/report/format.h"
#include "assay/report/markdown_text.h"
#include "assay/report/testing/full_disk.h"
#include "assay/report/testing/sample_summary.h"

namespace assay {
namespace {

using report::empty_summary;
using report::FullDisk;
using report::sample_summary;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string written(std::string_view format, const RunSummary& summary,
                    const ReportStyle& style = {}) {
  std::ostringstream out;
  const auto status = write_report(format, summary, style, out);
  EXPECT_TRUE(status) << status.error().message;
  return out.str();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

/// Reads RFC 4180, so that the test does not believe the writer.
std::vector<std::vector<std::string>> parsed_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1);
  std::string field;
  bool is_quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' && is_quoted && text[i + 1] == '"') {
      field += text[++i];
    } else if (c == '"') {
      is_quoted = !is_quoted;
    } else if (!is_quoted && (c == ',' || c == '\n')) {
      rows.back().push_back(std::exchange(field, {}));
      if (c == '\n') {
        rows.emplace_back();
      }
    } else {
      field += c;
    }
  }
  rows.pop_back();
  return rows;
}

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(ReportFormats, AreNamedOnce) {
  std::set<std::string_view> names;
  for (const auto& format : report_formats()) {
    EXPECT_TRUE(names.insert(format.name).second) << format.name;
    EXPECT_TRUE(format.extension.starts_with('.')) << format.name;
  }
  EXPECT_EQ(names,
            (std::set<std::string_view>{"console", "json", "jsonl", "csv", "md", "junit", "html"}));
}

TEST(ReportFormats, ListTheNamesWhenOneIsUnknown) {
  const auto found = get_report_format("htm");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(found.error().message, HasSubstr("html"));
}

TEST(ReportFormats, AllWriteARunWithoutCases) {
  for (const auto& format : report_formats()) {
    // A file of no lines is how JSON Lines says that there are no cases.
    EXPECT_EQ(written(format.name, empty_summary()).empty(), format.name == "jsonl") << format.name;
  }
}

TEST(ReportFormats, AllTellAFullDisk) {
  for (const auto& format : report_formats()) {
    FullDisk disk(2);  // Less than an empty list takes.
    std::ostream out(&disk);
    const auto status = write_report(format.name, sample_summary(), {}, out);
    ASSERT_FALSE(status) << format.name;
    EXPECT_EQ(status.error().code, ErrorCode::kUnavailable);
  }
}

TEST(Console, FitsTheWidthAtAnySize) {
  for (const int width : {40, 60, 80, 100, 120, 200}) {
    const auto text =
        written("console", sample_summary(), {.width_columns = width, .has_accuracy_tables = true});
    for (const auto& line : lines_of(text)) {
      EXPECT_LE(report::display_width(line), static_cast<std::size_t>(width)) << line;
    }
  }
}

TEST(Console, SaysWhichColumnsFoundNoRoom) {
  EXPECT_THAT(written("console", sample_summary(), {.width_columns = 80}),
              HasSubstr("Columns that did not fit: mean"));
  EXPECT_THAT(written("console", sample_summary(), {.width_columns = 250}),
              Not(HasSubstr("No room")));
}

TEST(Console, SaysThatNothingWasMeasured) {
  EXPECT_THAT(written("console", empty_summary()), HasSubstr("0 cases: nothing was measured"));
}

TEST(Console, HasNoColourUnlessOnATerminal) {
  EXPECT_THAT(written("console", sample_summary()), Not(HasSubstr("\x1b")));
  EXPECT_THAT(written("console", sample_summary(), {.is_terminal = true}), HasSubstr("\x1b[1;31m"));
}

TEST(Console, HasAccuracyTablesOnRequest) {
  EXPECT_THAT(written("console", sample_summary()), Not(HasSubstr("Accuracy of")));
  EXPECT_THAT(written("console", sample_summary(), {.has_accuracy_tables = true}),
              HasSubstr("Accuracy of mobilenet_v2"));
}

TEST(Console, IsBriefUnlessAskedForAll) {
  auto summary = sample_summary();
  for (std::size_t i = 1; i < 10; ++i) {
    summary.cases.front().notes.emplace_back(i, 'n');
    const auto crashed = summary.cases.at(4);
    summary.cases.push_back(crashed);
  }
  const auto brief = written("console", summary, {.has_accuracy_tables = true});
  EXPECT_THAT(brief, HasSubstr("-v shows all findings"));
  EXPECT_THAT(brief, HasSubstr("-v shows all notes"));
  EXPECT_THAT(brief, Not(HasSubstr("relative L2")));
  EXPECT_THAT(brief, HasSubstr("wrong outputs, made to test this check: 2 of 2 rejected"));
  EXPECT_THAT(brief, HasSubstr("other_input: accepted, though it must be rejected"));
  const auto full = written("console", summary, {.has_accuracy_tables = true, .is_verbose = true});
  EXPECT_THAT(full, Not(HasSubstr("-v shows")));
  EXPECT_THAT(full, HasSubstr("relative L2"));
  EXPECT_THAT(full, HasSubstr("nnnnnnnnn"));
}

TEST(Console, NamesFailuresBeforeOtherFindings) {
  const auto text = written("console", sample_summary());
  EXPECT_LT(text.find("✗ mobilenet_v3_large executorch/xnnpack-int8"),
            text.find("? mobilenet_v2 executorch/xnnpack-int8: timing"));
}

TEST(Console, EndsWithTheRunAndWhatMayComeNext) {
  EXPECT_THAT(written("console", sample_summary(), {.next_commands = {"assay report X"}}),
              testing::EndsWith("\n\nrun " + sample_summary().run.id + "\n  assay report X\n"));
}

TEST(JsonReport, BeginsWithItsSchemaAndHoldsTheWholeSummary) {
  const auto summary = sample_summary();
  const auto text = written("json", summary);
  EXPECT_TRUE(text.starts_with(R"({"schema":"assay/report/1",)"));
  const auto document = Json::parse(text);
  const auto back = document.get<RunSummary>();
  EXPECT_EQ(back.cases.size(), summary.cases.size());
  EXPECT_EQ(Json(back.cases[1]), Json(summary.cases[1]));
  EXPECT_EQ(back.environment.cpu_model, summary.environment.cpu_model);
  EXPECT_EQ(document.at("metrics").size(), metric_definitions().size());
}

TEST(JsonReport, MarksNanAndInfinityInsteadOfLosingThem) {
  const auto document = Json::parse(written("json", sample_summary()));
  const auto& tables = document.at("cases").at(7).at("accuracy_tables");
  const auto& features = tables.at(0).at("outputs").at(1).at("metrics");
  EXPECT_EQ(features.at("sqnr_db").at("special"), "nan");
  EXPECT_EQ(features.at("cosine_similarity").at("special"), "-inf");
}

TEST(Reports, MarkMetricsOfCasesThatAreNoFiniteNumber) {
  auto summary = sample_summary();
  summary.cases = {summary.cases[1]};
  summary.cases[0].metrics = {
      {"speedup_ratio", {.value = std::numeric_limits<double>::infinity(), .count = 3}},
      {"sustained_ratio", {.value = std::numeric_limits<double>::quiet_NaN(), .count = 3}}};
  const auto metrics = Json::parse(written("json", summary)).at("cases").at(0).at("metrics");
  EXPECT_EQ(metrics.at("speedup_ratio").at("special"), "inf");
  EXPECT_EQ(metrics.at("speedup_ratio").at("value"), 0);
  EXPECT_EQ(metrics.at("sustained_ratio").at("special"), "nan");
  EXPECT_THAT(written("csv", summary), HasSubstr(",inf,"));
  EXPECT_THAT(written("csv", summary), HasSubstr(",nan,"));
  EXPECT_THAT(written("console", summary), HasSubstr("∞"));
}

TEST(JsonReport, DefinesTheStagesOfLoadingThatEnginesName) {
  auto summary = sample_summary();
  summary.cases[0].metrics["load_compile_model_ns"] = {.value = 7e6, .count = 1};
  const auto metrics = Json::parse(written("json", summary)).at("metrics");
  const auto found = std::ranges::find_if(
      metrics, [](const Json& one) { return one.at("name") == "load_compile_model_ns"; });
  ASSERT_NE(found, metrics.end());
  EXPECT_EQ(found->at("unit"), "ns");
  EXPECT_EQ(found->at("title"), "load compile model");
  EXPECT_THAT(written("csv", summary), HasSubstr(",load_compile_model_ns\n"));
}

TEST(JsonlReport, HasOneDocumentPerCase) {
  const auto summary = sample_summary();
  const auto lines = lines_of(written("jsonl", summary));
  ASSERT_EQ(lines.size(), summary.cases.size());
  for (const auto& line : lines) {
    EXPECT_TRUE(line.starts_with(R"({"schema":"assay/report-case/1",)"));
    EXPECT_EQ(Json::parse(line).at("run"), summary.run.id);
  }
}

TEST(CsvReport, GivesEveryRowTheFieldsOfTheHead) {
  const auto summary = sample_summary();
  const auto rows = parsed_csv(written("csv", summary));
  ASSERT_EQ(rows.size(), summary.cases.size() + 1);
  for (const auto& row : rows) {
    EXPECT_EQ(row.size(), rows[0].size());
  }
}

TEST(CsvReport, KeepsRawNumbersAndQuotedText) {
  const auto summary = sample_summary();
  const auto rows = parsed_csv(written("csv", summary));
  const auto field = [&](std::size_t row, std::string_view name) {
    const auto found = std::ranges::find(rows[0], name);
    EXPECT_NE(found, rows[0].end()) << name;
    return rows[row].at(static_cast<std::size_t>(std::distance(rows[0].begin(), found)));
  };
  EXPECT_EQ(field(2, "steady_ns"), "11620000");
  EXPECT_EQ(field(2, "steady_launches"), "3");
  EXPECT_EQ(field(5, "steady_ns"), "") << "not measured is empty, never 0";
  EXPECT_EQ(field(8, "float32_sqnr_db"), "nan");
  EXPECT_EQ(field(10, "text"), summary.cases[9].text);
}

TEST(CsvReport, HoldsNoFormulaAndNoControlCharacter) {
  auto summary = sample_summary();
  const std::vector<std::pair<std::string, std::string>> texts = {
      {"=HYPERLINK(1)", "'=HYPERLINK(1)"},
      {"@SUM(1)", "'@SUM(1)"},
      {"+1+1", "'+1+1"},
      {"-x", "'-x"},
      {"\tx", "'\tx"},
      {"-3.5e-7", "-3.5e-7"},
      {"+4", "+4"},
      {"-inf", "-inf"},
      {"a=b", "a=b"},
      {"a\x1b]0;b\x07", "a·]0;b·"}};
  for (const auto& [text, expected] : texts) {
    summary.cases[0].text = text;
    const auto rows = parsed_csv(written("csv", summary));
    const auto at = std::ranges::find(rows[0], "text") - rows[0].begin();
    EXPECT_EQ(rows[1].at(static_cast<std::size_t>(at)), expected);
  }
}

TEST(CsvReport, PutsNumbersOfProgramsLastAColumnAUnit) {
  auto summary = sample_summary();
  const auto plain = parsed_csv(written("csv", summary)).front();
  summary.cases[0].metrics["program:size"] = {.value = 5, .unit = "bytes"};
  summary.cases[1].metrics["program:size"] = {.value = 7, .unit = "count"};
  const auto rows = parsed_csv(written("csv", summary));
  const std::vector<std::string> own(rows[0].begin() + static_cast<std::ptrdiff_t>(plain.size()),
                                     rows[0].end());
  EXPECT_EQ(std::vector(rows[0].begin(), rows[0].end() - 2), plain) << "for concatenated files";
  EXPECT_THAT(own, ElementsAre("program:size [bytes]", "program:size [count]"));
  EXPECT_THAT(rows[1], Contains("5"));
  EXPECT_EQ(rows[1].at(plain.size()), "5");
  EXPECT_EQ(rows[1].back(), "");
  EXPECT_EQ(rows[2].at(plain.size()), "");
  EXPECT_EQ(rows[2].back(), "7");
}

/// Processor time of this thread for the report of so many cases with numbers of their own.
double seconds_of(std::string_view format, int cases) {
  RunSummary summary;
  for (int i = 0; i < cases; ++i) {
    CaseSummary cell{.model = fmt::format("net {}", i), .options = fmt::format("seed={} a b c", i)};
    cell.notes = {fmt::format("note {} of a case", std::string(static_cast<std::size_t>(i), 'x'))};
    for (int metric = 0; metric < 20; ++metric) {
      cell.metrics[fmt::format("program:metric_{}", metric)] = {.value = 1, .unit = "ns"};
    }
    summary.cases.push_back(std::move(cell));
  }
  const auto start = std::clock();
  written(format, summary);
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

TEST(Reports, DoNotGrowWithTheSquareOfTheCases) {
  for (const std::string_view format : {"csv", "md"}) {
    EXPECT_LT(seconds_of(format, 800), 10 * (seconds_of(format, 100) + 0.02)) << format;
  }
}

TEST(CsvReport, HasItsHeadEvenWithoutCases) {
  EXPECT_EQ(parsed_csv(written("csv", empty_summary())).size(), 1U);
}

TEST(MarkdownReport, KeepsItsTablesWholeWhateverTheNames) {
  std::set<std::size_t> bars;  // Columns of the bars in the current table.
  int tables = 0;
  for (const auto& line : lines_of(written("md", sample_summary()))) {
    if (!line.starts_with('|')) {
      bars.clear();
      continue;
    }
    tables += bars.empty() ? 1 : 0;
    bars.insert(count_of(line, "|") - count_of(line, "\\|"));
    EXPECT_EQ(bars.size(), 1U) << "all rows have the same number of cells: " << line;
  }
  EXPECT_EQ(tables, 2);
}

TEST(MarkdownReport, LetsNoMarkupThrough) {
  const auto text = written("md", sample_summary());
  EXPECT_THAT(text, Not(HasSubstr("<script")));
  EXPECT_THAT(text, Not(HasSubstr("<img")));
  EXPECT_THAT(text, Not(HasSubstr("@everyone")));
}

TEST(MarkdownReport, KeepsTextOfEnginesAsText) {
  EXPECT_EQ(report::markdown_escaped("$x$ &lt; 1"), "&#36;x&#36; &amp;lt; 1");
  EXPECT_EQ(report::markdown_escaped("see http://a.b and WWW.c.d, 1:2"),
            "see http&#58;//a.b and WWW&#46;c.d, 1:2");
  EXPECT_EQ(report::markdown_escaped("a|b <c> @d"), "a\\|b &lt;c\\> &#64;d");
}

TEST(JunitReport, CountsFailuresErrorsAndSkips) {
  const auto text = written("junit", sample_summary());
  EXPECT_THAT(text, HasSubstr(R"(tests="10" failures="1" errors="3" skipped="2")"));
  EXPECT_EQ(count_of(text, "<testcase "), 10U);
  EXPECT_EQ(count_of(text, "<failure "), 1U);
  EXPECT_EQ(count_of(text, "<error "), 3U);
  EXPECT_EQ(count_of(text, "<skipped "), 2U);
  EXPECT_THAT(text, HasSubstr(R"(message="inconclusive: vacuous")"));
}

TEST(JunitReport, PassesACaseWhoseTimeIsUnsteady) {
  auto summary = sample_summary();
  auto& cell = *std::ranges::find(summary.cases, Timing::kInconclusive, &CaseSummary::timing);
  cell.timing = Timing::kUnsteady;
  summary.cases = {cell};
  const auto timing_only = written("junit", summary);
  EXPECT_THAT(timing_only, HasSubstr(R"(failures="0" errors="0" skipped="0")"));
  EXPECT_THAT(timing_only, HasSubstr(R"(<property name="result" value="pass: unsteady"/>)"));
  EXPECT_THAT(timing_only, HasSubstr("<system-out>4 more launches would decide"));
  summary.cases.front().verdict = Verdict::kInconclusive;
  EXPECT_THAT(written("junit", summary),
              testing::AllOf(HasSubstr(R"(skipped="1")"), HasSubstr("timing unsteady: 4.91 ms")))
      << "its samples are gone";
}

TEST(JunitReport, GivesTimesInSeconds) {
  EXPECT_THAT(written("junit", sample_summary()), HasSubstr(R"(time="0.011620000")"));
}

TEST(JunitReport, HoldsNoCharacterThatXmlForbids) {
  const auto text = written("junit", sample_summary());
  EXPECT_TRUE(std::ranges::none_of(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t'; }));
  EXPECT_THAT(text, Not(HasSubstr("<script")));
}

TEST(JunitReport, ReplacesCodePointsThatXmlDoesNotHave) {
  auto summary = sample_summary();
  summary.cases[0].last_words = "a\xEF\xBF\xBE b\xEF\xBF\xBF\xEF\xBF\xBF";
  const auto text = written("junit", summary);
  EXPECT_THAT(text, HasSubstr("a\xEF\xBF\xBD b\xEF\xBF\xBD\xEF\xBF\xBD"));
  EXPECT_THAT(text, Not(HasSubstr("\xEF\xBF\xBE")));
  EXPECT_THAT(text, Not(HasSubstr("\xEF\xBF\xBF")));
}

TEST(JunitReport, HasNoTimeOfAnEmulator) {
  auto summary = sample_summary();
  summary.cases = {summary.cases[1]};
  EXPECT_THAT(written("junit", summary), HasSubstr(R"(time="0.011620000")"));
  summary.cases[0].timing = Timing::kEmulated;
  EXPECT_THAT(written("junit", summary), Not(HasSubstr(R"(time="0.011620000")")));
}

TEST(JunitReport, CallsARunWithoutCasesAnError) {
  EXPECT_THAT(written("junit", empty_summary()), HasSubstr("nothing was measured"));
}

/// A page with a stand-in for the charts' script, so that the test needs no bundle.
std::string page_with(const std::string& script, const RunSummary& summary) {
  const auto folder = TemporaryFolder::make("assay-report-test");
  EXPECT_TRUE(folder);
  std::ofstream(folder->path() / "vega.js") << script;
  return written("html", summary, {.data_folder = folder->path()});
}

TEST(HtmlReport, HoldsTheDataSoThatNothingInItEndsTheScript) {
  const auto page = page_with("/*charts*/", sample_summary());
  const std::string open = R"(<script type="application/json" id="assay-data">)";
  const auto from = page.find(open) + open.size();
  const auto data = page.substr(from, page.find("</script>", from) - from);
  EXPECT_EQ(data.find('<'), std::string::npos);
  const auto document = Json::parse(data);
  EXPECT_EQ(document.at("cases").size(), 10U);
  EXPECT_EQ(document.at("cases").at(9).at("model"), "</script><script>alert(1)</script>");
  EXPECT_EQ(count_of(page, "<script"), 3U);
  EXPECT_EQ(count_of(page, "</script>"), 3U);
}

TEST(HtmlReport, EscapesItsTitle) {
  auto summary = empty_summary();
  summary.run.name = "</title><b>&";
  EXPECT_THAT(page_with("", summary), HasSubstr("<title>&lt;/title>&lt;b>&amp; – Assay</title>"));
}

TEST(HtmlReport, DoesNotTakeDataForAPlaceInItsTemplate) {
  auto summary = empty_summary();
  summary.run.name = "@SCRIPT@ @DATA@";
  const auto page = page_with("", summary);
  EXPECT_THAT(page, HasSubstr("<title>@SCRIPT@ @DATA@ – Assay</title>"));
}

TEST(HtmlReport, LoadsNothingFromANetwork) {
  const auto page = page_with("", sample_summary());
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, Not(HasSubstr("src=\"http")));
  EXPECT_THAT(page, Not(HasSubstr("href=\"http")));
  EXPECT_THAT(page, Not(HasSubstr("@import")));
}

TEST(HtmlReport, IsWrittenWithoutChartsWhenTheBundleIsMissing) {
  const auto folder = TemporaryFolder::make("assay-report-test");
  ASSERT_TRUE(folder);
  const auto page = written("html", sample_summary(), {.data_folder = folder->path()});
  EXPECT_THAT(page, HasSubstr("vega.js was not found"));
  EXPECT_THAT(page, HasSubstr("The charts are missing"));
}

TEST(HtmlReport, RefusesABundleThatWouldEndItsElement) {
  EXPECT_THAT(page_with("var x = '</script><b>';", sample_summary()),
              HasSubstr("vega.js was not found"));
}

}  // namespace
}  // namespace assay
