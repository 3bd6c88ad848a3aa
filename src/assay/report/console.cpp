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
#include "assay/base/text.h"
#include "assay/record/axes.h"
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
#include "assay/report/timing_text.h"
#include "assay/report/writer.h"

namespace assay::report {
namespace {

constexpr std::size_t kBriefFindings = 8;
constexpr std::size_t kBriefNotes = 4;

/// Says how much of a list was left out, and where it stands.
void add_left_out(TextPage& page, std::size_t all, std::size_t shown, std::string_view what) {
  if (shown < all) {
    page.line(fmt::format("and {} more; -v shows all {}", all - shown, what), 2);
  }
}

void add_title(TextPage& page, const RunSummary& summary) {
  const auto& run = summary.run;
  page.line(fmt::format("{} — {}: {}", run.name.empty() ? run.purpose : printable(run.name),
                        counted(summary.cases.size(), "case"),
                        summary.cases.empty() ? "nothing was measured" : tally_of(summary.cases)));
  page.line(when_of(run));
  for (const auto& machine : machines_of(summary)) {
    page.line(machine);
  }
  if (const auto told = line_from_calibration(summary.calibration); !told.empty()) {
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
    page.line(fmt::format("Columns that did not fit: {}. A wider terminal, csv or html shows them.",
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
  if (const auto sentence = sentence_on_times(summary.cases); !sentence.empty()) {
    page.line(sentence, 2, 2);
  }
}

/// The fastest case that keeps accuracy, model by model.
void add_trade_offs(TextPage& page, const RunSummary& summary) {
  for (const auto& one : summary.trade_offs) {
    page.line(line_from_trade_off(one), 2, 2);
  }
}

std::vector<Finding> failures_first(const std::vector<Finding>& findings) {
  std::vector<Finding> ordered;
  std::vector<Finding> others;
  std::ranges::partition_copy(
      findings, std::back_inserter(ordered), std::back_inserter(others),
      [](const Finding& finding) { return finding.verdict == Verdict::kFail; });
  std::ranges::move(others, std::back_inserter(ordered));
  return ordered;
}

void add_findings(TextPage& page, const RunSummary& summary, const ReportStyle& style) {
  const auto findings = failures_first(all_findings(summary.cases));
  if (findings.empty()) {
    return;
  }
  page.heading("Findings");
  const auto shown = style.is_verbose ? findings.size() : std::min(findings.size(), kBriefFindings);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& finding = findings[i];
    page.line(fmt::format("{} {}: {}", mark_of(finding.verdict), finding.title, finding.text), 2,
              2);
  }
  add_left_out(page, findings.size(), shown, "findings");
}

void add_shared(TextPage& page, const std::string& heading, std::string_view mark,
                const std::vector<SharedNote>& notes, const RunSummary& summary, std::size_t most) {
  if (notes.empty()) {
    return;
  }
  page.heading(heading);
  const auto shown = std::min(notes.size(), most);
  for (std::size_t i = 0; i < shown; ++i) {
    page.line(fmt::format("{}{} ({})", mark, notes[i].text, concerned_by(notes[i], summary.cases)),
              2, 2);
  }
  add_left_out(page, notes.size(), shown, "notes");
}

constexpr std::string_view kRejected = ": rejected";

/// Controls are wrong outputs, made on purpose: a check that accepts one tells nothing. In brief
/// those that were rejected are a count.
void add_controls(TextPage& page, const AccuracyTable& table, bool is_verbose) {
  const auto rejected = std::ranges::count_if(table.controls, [](const std::string& control) {
    return control.find(kRejected) != std::string::npos;
  });
  if (!table.controls.empty()) {
    page.line(fmt::format("wrong outputs, made to test this check: {} of {} rejected", rejected,
                          table.controls.size()),
              4, 2);
  }
  for (const auto& control : table.controls) {
    if (is_verbose || control.find(kRejected) == std::string::npos) {
      page.line(printable(control), 6, 2);
    }
  }
}

/// Says how many gates held; broken ones are among the findings.
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

void add_accuracy(TextPage& page, const RunSummary& summary, bool is_verbose) {
  for (const auto& cell : summary.cases) {
    for (const auto& table : cell.accuracy_tables) {
      page.heading(fmt::format("Accuracy of {} against {}: {}", title_of(cell),
                               printable(table.against), name_of(table.accuracy)));
      page.table(accuracy_table(table, !is_verbose));
      add_controls(page, table, is_verbose);
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
    add_trade_offs(page, summary);
  }
  add_comparisons(page, summary);
  add_findings(page, summary, style);
  // Why a result may mislead, though nothing is wrong with the case itself.
  const auto warnings = shared_warnings(summary.cases);
  add_shared(page, "Warnings", "! ", warnings, summary, warnings.size());
  add_gates(page, summary);
  if (style.has_accuracy_tables) {
    add_accuracy(page, summary, style.is_verbose);
  }
  add_attribution(page, summary);
  if (style.has_memory_tables) {
    add_memory(page, summary);
  }
  const auto notes = shared_notes(summary.cases);
  add_shared(page, "Notes", "", notes, summary, style.is_verbose ? notes.size() : kBriefNotes);
  page.footer(summary.run.id, style);
  out << page.text();
  return {};
}

}  // namespace assay::report
