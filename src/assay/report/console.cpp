#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/result.h"
#include "assay/base/text.h"
#include "assay/record/summary.h"
#include "assay/report/attribution.h"
#include "assay/report/calibration.h"
#include "assay/report/case_text.h"
#include "assay/report/comparison.h"
#include "assay/report/format.h"
#include "assay/report/formats.h"
#include "assay/report/memory.h"
#include "assay/report/shared_text.h"
#include "assay/report/text_page.h"
#include "assay/report/text_table.h"
#include "assay/report/writer.h"

namespace assay::report {
namespace {

/// What this machine can tell apart, if it was calibrated.
std::string told_apart_by(const RunSummary& summary) {
  const auto line = summary.calibration ? line_from_calibration(*summary.calibration) : "";
  return line.empty() ? "" : "a difference of " + line;
}

void add_title(TextPage& page, const RunSummary& summary) {
  const auto& run = summary.run;
  page.line(fmt::format("{} — {}: {}", run.name.empty() ? run.purpose : printable(run.name),
                        counted(summary.cases.size(), "case"),
                        summary.cases.empty() ? "nothing was measured" : tally_of(summary.cases)));
  page.line(when_of(run));
  if (const auto machine = machine_of(summary.environment); !machine.empty()) {
    page.line(machine);
  }
  if (const auto told = told_apart_by(summary); !told.empty()) {
    page.line(told);
  }
}

void add_main_table(TextPage& page, const RunSummary& summary) {
  std::vector<std::string> common;
  const auto table = case_table(summary, common);
  if (!common.empty()) {
    page.line(fmt::format("all cases: {}", fmt::join(common, ", ")));
  }
  page.blank();
  const auto dropped = page.table(table);
  if (!dropped.empty()) {
    page.line(fmt::format("No room for: {}. A wider terminal, csv or html shows them.",
                          fmt::join(dropped, ", ")),
              2);
  }
}

void add_legend(TextPage& page, const RunSummary& summary) {
  const bool has_steady = std::ranges::any_of(summary.cases, [](const CaseSummary& cell) {
    return find_estimate(cell, "steady_ns") != nullptr;
  });
  if (!has_steady) {
    return;
  }
  std::string legend = "steady: median over n launches, after warm-up";
  const bool has_speedup = std::ranges::any_of(summary.cases, [](const CaseSummary& cell) {
    return find_estimate(cell, "speedup_ratio") != nullptr;
  });
  if (has_speedup && !summary.baseline.empty()) {
    legend += fmt::format("; speedup: over {}", printable(summary.baseline));
  }
  page.line(legend, 2);
}

void add_findings(TextPage& page, const RunSummary& summary) {
  const auto findings = all_findings(summary.cases);
  if (findings.empty()) {
    return;
  }
  page.heading("Findings");
  for (const auto& finding : findings) {
    page.line(fmt::format("{} {}: {}", mark_of(finding.verdict), finding.title, finding.text), 2,
              2);
  }
}

void add_shared(TextPage& page, const std::string& heading, std::string_view mark,
                const std::vector<SharedNote>& notes, const RunSummary& summary) {
  if (notes.empty()) {
    return;
  }
  page.heading(heading);
  for (const auto& note : notes) {
    page.line(fmt::format("{}{} ({})", mark, note.text, concerned_by(note, summary.cases)), 2, 2);
  }
}

/// How many held; those that broke stand under the findings.
void add_gates(TextPage& page, const RunSummary& summary) {
  std::size_t all = 0;
  std::size_t met = 0;
  for (const auto& cell : summary.cases) {
    all += cell.gates.size();
    met += static_cast<std::size_t>(std::ranges::count(cell.gates, true, &GateResult::is_met));
  }
  if (all > 0) {
    page.heading(fmt::format("Gates: {} of {} met", met, all));
  }
}

void add_accuracy(TextPage& page, const RunSummary& summary) {
  for (const auto& cell : summary.cases) {
    for (const auto& table : cell.accuracy_tables) {
      page.heading(fmt::format("Accuracy of {} against {}: {}", title_of(cell),
                               printable(table.against), name_of(table.accuracy)));
      page.table(accuracy_table(table));
      for (const auto& control : table.controls) {
        page.line("control " + printable(control), 4, 2);
      }
    }
  }
}

void add_attribution(TextPage& page, const RunSummary& summary) {
  for (const auto& cell : summary.cases) {
    if (!cell.attribution) {
      continue;
    }
    page.heading("Where the error of " + title_of(cell) + " arises");
    page.table(attribution_table(*cell.attribution));
    for (const auto& line : attribution_lines(*cell.attribution)) {
      page.line(printable(line), 2, 2);
    }
  }
}

void add_memory(TextPage& page, const RunSummary& summary) {
  for (const auto& cell : summary.cases) {
    if (!cell.memory) {
      continue;
    }
    page.heading("Memory of " + title_of(cell));
    if (const auto table = memory_table(*cell.memory); !table.columns.empty()) {
      page.table(table);
    }
    for (const auto& line : memory_lines(cell)) {
      page.line(line, 2, 2);
    }
  }
}

void add_comparisons(TextPage& page, const RunSummary& summary) {
  for (const auto& one : summary.comparisons) {
    const auto& comparison = one.comparison;
    page.heading("Comparison: " + printable(comparison.text));
    page.line("A  " + printable(comparison.a_label), 2, 3);
    page.line("B  " + printable(comparison.b_label), 2, 3);
    if (const auto table = comparison_table(comparison); !table.columns.empty()) {
      page.blank();
      page.table(table);
      page.blank();
    }
    for (const auto& line : comparison_lines(comparison)) {
      page.line(line, 2, 2);
    }
  }
}

}  // namespace

Status write_console(const RunSummary& summary, const ReportStyle& style, std::ostream& out) {
  TextPage page(style);
  add_title(page, summary);
  if (!summary.cases.empty()) {
    add_main_table(page, summary);
    add_legend(page, summary);
  }
  add_comparisons(page, summary);
  add_findings(page, summary);
  // Why a result may mislead, though nothing is wrong with the case itself.
  add_shared(page, "Warnings", "! ", shared_warnings(summary.cases), summary);
  add_gates(page, summary);
  if (style.has_accuracy_tables) {
    add_accuracy(page, summary);
  }
  add_attribution(page, summary);
  if (style.has_memory_tables) {
    add_memory(page, summary);
  }
  add_shared(page, "Notes", "", shared_notes(summary.cases), summary);
  out << page.text();
  return {};
}

}  // namespace assay::report
