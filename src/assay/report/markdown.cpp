#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/result.h"
#include "assay/record/summary.h"
#include "assay/report/attribution.h"
#include "assay/report/calibration.h"
#include "assay/report/case_text.h"
#include "assay/report/comparison.h"
#include "assay/report/format.h"
#include "assay/report/formats.h"
#include "assay/report/markdown_text.h"
#include "assay/report/memory.h"
#include "assay/report/shared_text.h"
#include "assay/report/text_table.h"
#include "assay/report/timing_text.h"
#include "assay/report/writer.h"

namespace assay::report {
namespace {

void write_findings(const RunSummary& summary, std::ostream& out) {
  const auto findings = all_findings(summary.cases);
  if (!findings.empty()) {
    out << "\n#### Findings\n\n";
  }
  for (const auto& finding : findings) {
    out << fmt::format("- {} **{}**: {}\n", mark_of(finding.verdict),
                       markdown_escaped(finding.title), markdown_escaped(finding.text));
  }
}

void write_shared(std::string_view heading, const std::vector<SharedNote>& notes,
                  const RunSummary& summary, std::ostream& out) {
  if (!notes.empty()) {
    out << fmt::format("\n#### {}\n\n", heading);
  }
  for (const auto& note : notes) {
    out << fmt::format("- {} ({})\n", markdown_escaped(note.text),
                       markdown_escaped(concerned_by(note, summary.cases)));
  }
}

void write_notes(const RunSummary& summary, std::ostream& out) {
  write_shared("Warnings", shared_warnings(summary.cases), summary, out);
  write_shared("Notes", shared_notes(summary.cases), summary, out);
}

void write_accuracy(const RunSummary& summary, std::ostream& out) {
  for (const auto& cell : summary.cases) {
    for (const auto& table : cell.accuracy_tables) {
      out << fmt::format("\n#### Accuracy of {} against {}: {}\n\n",
                         markdown_escaped(title_of(cell)), markdown_escaped(table.against),
                         name_of(table.accuracy));
      write_markdown_table(accuracy_table(table), out);
    }
  }
}

void write_attribution(const RunSummary& summary, std::ostream& out) {
  for (const auto& cell : summary.cases) {
    if (!cell.attribution) {
      continue;
    }
    out << fmt::format("\n#### Where the error of {} arises\n\n", markdown_escaped(title_of(cell)));
    write_markdown_table(attribution_table(*cell.attribution), out);
    out << '\n';
    for (const auto& line : attribution_lines(*cell.attribution)) {
      out << fmt::format("- {}\n", markdown_escaped(line));
    }
  }
}

void write_memory(const RunSummary& summary, std::ostream& out) {
  for (const auto& cell : summary.cases) {
    if (!cell.memory) {
      continue;
    }
    out << fmt::format("\n#### Memory of {}\n\n", markdown_escaped(title_of(cell)));
    if (const auto table = memory_table(*cell.memory); !table.columns.empty()) {
      write_markdown_table(table, out);
      out << '\n';
    }
    for (const auto& line : memory_lines(cell)) {
      out << fmt::format("- {}\n", markdown_escaped(line));
    }
  }
}

void write_comparisons(const RunSummary& summary, std::ostream& out) {
  for (const auto& one : summary.comparisons) {
    const auto& comparison = one.comparison;
    out << fmt::format("\n#### Comparison: {}\n\n- A: {}\n- B: {}\n\n",
                       markdown_escaped(comparison.text), markdown_escaped(comparison.a_label),
                       markdown_escaped(comparison.b_label));
    if (const auto table = comparison_table(comparison); !table.columns.empty()) {
      write_markdown_table(table, out);
      out << '\n';
    }
    for (const auto& line : comparison_lines(comparison)) {
      out << fmt::format("- {}\n", markdown_escaped(line));
    }
  }
}

}  // namespace

Status write_markdown(const RunSummary& summary, const ReportStyle& style, std::ostream& out) {
  const auto& run = summary.run;
  out << fmt::format("### {}\n\n{}: {}\n\n",
                     markdown_escaped(run.name.empty() ? run.purpose : run.name),
                     counted(summary.cases.size(), "case"),
                     summary.cases.empty() ? "nothing was measured" : tally_of(summary.cases));
  if (!summary.cases.empty()) {
    std::vector<std::string> common;
    const auto table = case_table(summary, common);
    write_markdown_table(table, out);
    if (!common.empty()) {
      out << fmt::format("\nAll cases: {}\n",
                         markdown_escaped(fmt::format("{}", fmt::join(common, ", "))));
    }
  }
  if (const auto sentence = sentence_on_times(summary.cases); !sentence.empty()) {
    out << fmt::format("\n{}\n", markdown_escaped(sentence));
  }
  for (const auto& one : summary.trade_offs) {
    out << fmt::format("\n{}\n", markdown_escaped(line_from_trade_off(one)));
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
  const auto told = line_from_calibration(summary.calibration);
  out << fmt::format("\n<sub>{} · {}{}{} · run {}</sub>\n", markdown_escaped(when_of(run)),
                     markdown_escaped(fmt::format("{}", fmt::join(machines_of(summary), " · "))),
                     told.empty() ? "" : " · ", markdown_escaped(told), markdown_escaped(run.id));
  return {};
}

}  // namespace assay::report
