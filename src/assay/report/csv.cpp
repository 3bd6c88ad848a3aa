#include <algorithm>
#include <compare>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/result.h"
#include "assay/record/metric.h"
#include "assay/record/summary.h"
#include "assay/report/case_text.h"
#include "assay/report/csv_row.h"
#include "assay/report/formats.h"
#include "assay/report/writer.h"

namespace assay::report {
namespace {

/// Shortest text that reads back as the same double.
std::string exact(double value, std::string_view special) {
  return special.empty() ? fmt::format("{}", value) : std::string(special);
}

void add_identity(CsvRow& row, const RunSummary& summary, const CaseSummary& cell) {
  row.insert(row.end(), {{"run", summary.run.id},
                         {"case_key", cell.case_key},
                         {"subject", cell.subject},
                         {"environment", environment_of(summary, cell).id},
                         {"device", cell.device},
                         {"model", cell.model},
                         {"recipe", cell.recipe},
                         {"engine", cell.engine},
                         {"options", cell.options},
                         {"shapes", cell.shapes},
                         {"verdict", std::string(name_of(cell.verdict))},
                         {"outcome", std::string(name_of(cell.outcome))},
                         {"stage", std::string(name_of(cell.stage))},
                         {"reason_code", cell.reason_code},
                         {"accuracy", std::string(name_of(cell.accuracy))},
                         {"timing", std::string(name_of(cell.timing))},
                         {"delegation", std::string(name_of(cell.delegation))}});
}

/// Every metric of a case; the headline brings its interval and count.
void add_metrics(CsvRow& row, const CaseSummary& cell) {
  for (const auto& definition : metric_definitions()) {
    if (definition.level != "case") {
      continue;
    }
    const std::string name(definition.name);
    const auto* estimate = find_estimate(cell, name);
    row.emplace_back(name, estimate == nullptr ? "" : exact(estimate->value, estimate->special));
    if (name == "steady_ns") {
      const Estimate none;
      const auto& steady = estimate == nullptr ? none : *estimate;
      row.emplace_back("steady_low_ns", steady.low ? exact(*steady.low, {}) : "");
      row.emplace_back("steady_high_ns", steady.high ? exact(*steady.high, {}) : "");
      row.emplace_back("steady_confidence_ratio",
                       steady.confidence > 0 ? exact(steady.confidence, {}) : "");
      row.emplace_back("steady_launches", estimate == nullptr ? "" : fmt::to_string(steady.count));
    }
  }
}

/// A column that not every run has: a number that programs print, in one unit, or the time of a
/// stage of loading by an engine's own name.
struct OwnColumn {
  std::string name;
  std::string unit;  ///< Empty: that of the name's end.

  auto operator<=>(const OwnColumn&) const = default;
};

std::set<OwnColumn> own_columns_of(const std::vector<CaseSummary>& cases) {
  std::set<OwnColumn> columns;
  for (const auto& name : load_stages_of(cases)) {
    columns.insert({.name = name, .unit = {}});
  }
  for (const auto& cell : cases) {
    for (const auto& [name, estimate] : cell.metrics) {
      if (name.starts_with(kProgramPrefix)) {
        columns.insert({.name = name, .unit = estimate.unit});
      }
    }
  }
  return columns;
}

void add_own_columns(CsvRow& row, const std::set<OwnColumn>& columns, const CaseSummary& cell) {
  for (const auto& [name, unit] : columns) {
    const auto* estimate = find_estimate(cell, name);
    const bool is_here = estimate != nullptr && estimate->unit == unit;
    row.emplace_back(unit.empty() ? name : fmt::format("{} [{}]", name, unit),
                     is_here ? exact(estimate->value, estimate->special) : "");
  }
}

/// The worst over the outputs, against the references that most runs have.
void add_errors(CsvRow& row, const CaseSummary& cell) {
  for (const std::string_view against : {"float32", "qdq"}) {
    for (const std::string_view metric :
         {"sqnr_db", "cosine_similarity", "max_abs_error", "relative_l2_error", "nan_count"}) {
      const auto* worst = find_worst(cell, against, metric);
      row.emplace_back(fmt::format("{}_{}", against, metric),
                       worst == nullptr ? "" : exact(worst->value, worst->special));
    }
  }
}

/// How many elements of the outputs were not the same in each execution; empty if none was
/// evaluated. The executions are the same for every reference.
std::string differing_elements_of(const CaseSummary& cell) {
  const auto& tables = cell.accuracy_tables;
  const auto most = std::ranges::max_element(tables, {}, &AccuracyTable::differing_elements);
  return most == tables.end() ? "" : fmt::to_string(most->differing_elements);
}

/// "float32.sqnr_db>=8": what decided over the worst outputs.
std::string bounds_of(const CaseSummary& cell) {
  std::vector<std::string> bounds;
  for (const auto& [name, limit] : decisive_bounds(cell)) {
    bounds.push_back(name + limit);
  }
  return fmt::format("{}", fmt::join(bounds, "; "));
}

/// Own columns stand last, so that files of several runs can be concatenated up to there.
CsvRow case_row(const RunSummary& summary, const std::set<OwnColumn>& own,
                const CaseSummary& cell) {
  CsvRow row;
  add_identity(row, summary, cell);
  add_metrics(row, cell);
  add_errors(row, cell);
  row.emplace_back("accuracy_bounds", bounds_of(cell));
  row.emplace_back("differing_elements", differing_elements_of(cell));
  row.emplace_back("text", cell.text);
  auto notes = cell.warnings;
  notes.insert(notes.end(), cell.notes.begin(), cell.notes.end());
  row.emplace_back("notes", fmt::format("{}", fmt::join(notes, "; ")));
  row.emplace_back("reproduce", cell.reproduce);
  add_own_columns(row, own, cell);
  return row;
}

}  // namespace

Status write_csv(const RunSummary& summary, const ReportStyle& /*style*/, std::ostream& out) {
  const auto own = own_columns_of(summary.cases);
  write_csv_head(case_row(summary, own, {}), out);
  for (const auto& cell : summary.cases) {
    write_csv_row(case_row(summary, own, cell), out);
  }
  return {};
}

}  // namespace assay::report
