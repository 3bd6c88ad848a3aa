// Conformance for people: a page for terminals, and the same for GitHub.
#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/base/text.h"
#include "assay/record/conformance.h"
#include "assay/report/case_text.h"
#include "assay/report/conformance_formats.h"
#include "assay/report/conformance_text.h"
#include "assay/report/markdown_text.h"
#include "assay/report/text_page.h"
#include "assay/report/writer.h"

namespace assay::report {
namespace {

constexpr std::size_t kBriefLines = 12;
constexpr std::size_t kBriefNames = 8;

void add_list(TextPage& page, const std::string& heading, const std::vector<std::string>& lines,
              std::size_t most) {
  if (lines.empty()) {
    return;
  }
  page.heading(heading);
  const auto shown = std::min(lines.size(), most);
  for (std::size_t i = 0; i < shown; ++i) {
    page.line(printable(lines[i]), 2, 2);
  }
  if (shown < lines.size()) {
    page.line(fmt::format("and {} more; -v shows all", lines.size() - shown), 2);
  }
}

std::vector<std::string> lines_of_findings(const ConformReport& report) {
  const SettingNames names(report);
  std::vector<std::string> lines;
  for (const auto* result : findings_of(report)) {
    lines.push_back(fmt::format("{} {}: {}", result->known == KnownGap::kNewFailure ? "✗" : "✓",
                                names.title_of(*result), text_of_finding(*result)));
  }
  return lines;
}

/// The lists of a report with their headings, in order; coverage, which is that of the suite, and
/// every name where it is no brief one.
std::vector<std::pair<std::string, std::vector<std::string>>> lists_of(const ConformReport& report,
                                                                       bool is_brief) {
  const auto since = report.earlier_run.empty()
                         ? std::string("Changes")
                         : fmt::format("Changes since run {}", report.earlier_run);
  return {{"Findings", lines_of_findings(report)},
          {"Known gaps to remove", lines_of_stale(report)},
          {"Expected failures",
           lines_of_expected(report, is_brief ? kBriefNames : report.results.size())},
          {since, lines_of_changes(report)},
          {"Coverage", is_brief ? std::vector<std::string>() : lines_of_coverage(report)},
          {"Notes", notes_of(report)}};
}

}  // namespace

Status conformance_to_console(const ConformReport& report, const ReportStyle& style,
                              std::ostream& out) {
  TextPage page(style);
  page.line(headline_of(report));
  page.line(when_of(report.run));
  if (const auto machine = machine_of(report.run, report.environment); !machine.empty()) {
    page.line(machine);
  }
  if (!report.results.empty()) {
    page.blank();
    page.table(verdict_table(report));
  }
  for (const auto& [heading, lines] : lists_of(report, !style.is_verbose)) {
    add_list(page, heading, lines, style.is_verbose ? lines.size() : kBriefLines);
  }
  page.blank();
  page.line(line_of_time(report));
  page.footer(report.run.id, style);
  out << page.text();
  return {};
}

Status conformance_to_markdown(const ConformReport& report, const ReportStyle& /*style*/,
                               std::ostream& out) {
  out << "### " << markdown_escaped(headline_of(report)) << "\n\n";
  if (!report.results.empty()) {
    write_markdown_table(verdict_table(report), out);
  }
  for (const auto& [heading, lines] : lists_of(report, false)) {
    if (lines.empty()) {
      continue;
    }
    out << "\n#### " << markdown_escaped(heading) << "\n\n";
    for (const auto& line : lines) {
      out << "- " << markdown_escaped(line) << "\n";
    }
  }
  out << "\n" << markdown_escaped(line_of_time(report)) << "\n";
  return {};
}

}  // namespace assay::report
