#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/record/summary.h"
#include "assay/report/attribution.h"
#include "assay/report/calibration.h"
#include "assay/report/case_text.h"
#include "assay/report/comparison.h"
#include "assay/report/format.h"
#include "assay/report/formats.h"
#include "assay/report/memory.h"
#include "assay/report/text_table.h"
#include "assay/report/writer.h"

namespace assay::report {
namespace {

constexpr std::string_view kSpecial = "\\`*_[]<>|~#@";

/// Text that stays text inside a table cell of GitHub's Markdown, whatever an engine printed.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '@') {
      out += "&#64;";  // Or it notifies somebody.
    } else {
      out += kSpecial.find(c) == std::string_view::npos ? std::string(1, c) : std::string("\\") + c;
    }
  }
  return out;
}

std::string row_of(const std::vector<std::string>& cells) {
  return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

void write_table(const TextTable& table, std::ostream& out) {
  std::vector<std::string> head;
  std::vector<std::string> rule;
  for (const auto& column : table.columns) {
    head.push_back(column.unit.empty() ? escaped(column.title)
                                       : escaped(column.title + " " + column.unit));
    rule.emplace_back(column.is_left ? ":--" : "--:");
  }
  out << row_of(head) << row_of(rule);
  auto group = table.groups.begin();
  for (std::size_t row = 0; row < table.columns.front().cells.size(); ++row) {
    for (; group != table.groups.end() && group->first_row == row; ++group) {
      std::vector<std::string> line(table.columns.size());
      line.front() = fmt::format("**{}**", escaped(group->title));
      out << row_of(line);
    }
    std::vector<std::string> cells;
    std::ranges::transform(
        table.columns, std::back_inserter(cells),
        [row](const TextColumn& column) { return escaped(column.cells.at(row).text); });
    out << row_of(cells);
  }
}

void write_findings(const RunSummary& summary, std::ostream& out) {
  std::string text;
  for (const auto& cell : summary.cases) {
    const auto findings = findings_of(cell);
    if (cell.verdict != Verdict::kPass && !findings.empty()) {
      text += fmt::format("- {} **{}**: {}\n", mark_of(cell.verdict), escaped(title_of(cell)),
                          escaped(fmt::format("{}", fmt::join(findings, "; "))));
    }
  }
  if (!text.empty()) {
    out << "\n#### Findings\n\n" << text;
  }
}

void write_shared(std::string_view heading, const std::vector<SharedNote>& notes,
                  const RunSummary& summary, std::ostream& out) {
  if (!notes.empty()) {
    out << fmt::format("\n#### {}\n\n", heading);
  }
  for (const auto& note : notes) {
    out << fmt::format("- {} ({})\n", escaped(note.text),
                       escaped(concerned_by(note, summary.cases)));
  }
}

void write_notes(const RunSummary& summary, std::ostream& out) {
  write_shared("Warnings", shared_warnings(summary.cases), summary, out);
  write_shared("Notes", shared_notes(summary.cases), summary, out);
}

void write_accuracy(const RunSummary& summary, std::ostream& out) {
  for (const auto& cell : summary.cases) {
    for (const auto& table : cell.accuracy_tables) {
      out << fmt::format("\n#### Accuracy of {} against {}: {}\n\n", escaped(title_of(cell)),
                         escaped(table.against), name_of(table.accuracy));
      write_table(accuracy_table(table), out);
    }
  }
}

void write_attribution(const RunSummary& summary, std::ostream& out) {
  for (const auto& cell : summary.cases) {
    if (!cell.attribution) {
      continue;
    }
    out << fmt::format("\n#### Where the error of {} arises\n\n", escaped(title_of(cell)));
    write_table(attribution_table(*cell.attribution), out);
    out << '\n';
    for (const auto& line : attribution_lines(*cell.attribution)) {
      out << fmt::format("- {}\n", escaped(line));
    }
  }
}

void write_memory(const RunSummary& summary, std::ostream& out) {
  for (const auto& cell : summary.cases) {
    if (!cell.memory) {
      continue;
    }
    out << fmt::format("\n#### Memory of {}\n\n", escaped(title_of(cell)));
    if (const auto table = memory_table(*cell.memory); !table.columns.empty()) {
      write_table(table, out);
      out << '\n';
    }
    for (const auto& line : memory_lines(cell)) {
      out << fmt::format("- {}\n", escaped(line));
    }
  }
}

void write_comparisons(const RunSummary& summary, std::ostream& out) {
  for (const auto& one : summary.comparisons) {
    const auto& comparison = one.comparison;
    out << fmt::format("\n#### Comparison: {}\n\n- A: {}\n- B: {}\n\n", escaped(comparison.text),
                       escaped(comparison.a_label), escaped(comparison.b_label));
    if (const auto table = comparison_table(comparison); !table.columns.empty()) {
      write_table(table, out);
      out << '\n';
    }
    for (const auto& line : comparison_lines(comparison)) {
      out << fmt::format("- {}\n", escaped(line));
    }
  }
}

}  // namespace

Status write_markdown(const RunSummary& summary, const ReportStyle& style, std::ostream& out) {
  const auto& run = summary.run;
  out << fmt::format("### {}\n\n{}: {}\n\n", escaped(run.name.empty() ? run.purpose : run.name),
                     counted(summary.cases.size(), "case"),
                     summary.cases.empty() ? "nothing was measured" : tally_of(summary.cases));
  if (!summary.cases.empty()) {
    std::vector<std::string> common;
    const auto table = case_table(summary, common);
    write_table(table, out);
    if (!common.empty()) {
      out << fmt::format("\nAll cases: {}\n", escaped(fmt::format("{}", fmt::join(common, ", "))));
    }
  }
  write_comparisons(summary, out);
  write_findings(summary, out);
  if (style.has_accuracy_tables) {
    write_accuracy(summary, out);
  }
  write_attribution(summary, out);
  if (style.has_memory_tables) {
    write_memory(summary, out);
  }
  write_notes(summary, out);
  const auto told = summary.calibration
                        ? " · a difference of " + line_from_calibration(*summary.calibration)
                        : "";
  out << fmt::format("\n<sub>{} · {}{} · run {}</sub>\n", escaped(when_of(run)),
                     escaped(machine_of(summary.environment)), escaped(told), escaped(run.id));
  return {};
}

}  // namespace assay::report
