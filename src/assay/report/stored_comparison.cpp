#include "assay/report/stored_comparison.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/record/metric.h"
#include "assay/record/metric_scale.h"
#include "assay/record/stored_comparison.h"
#include "assay/report/format.h"
#include "assay/report/shift_text.h"
#include "assay/report/text_table.h"

namespace assay::report {
namespace {

std::string sign_of(const StoredChange& change, Better better) {
  if (!change.is_nominated) {
    return "none";
  }
  const int direction = direction_of_change(better, change.ratio);
  return fmt::format("{}: compare in pairs", direction > 0   ? "worse"
                                             : direction < 0 ? "better"
                                                             : "changed");
}

std::string unit_of_changes(const StoredComparison& comparison) {
  std::vector<Shift> shifts;
  std::ranges::transform(
      comparison.changes, std::back_inserter(shifts),
      [&](const StoredChange& change) { return shift_of(change, comparison.unit); });
  return unit_of_shifts(shifts);
}

TextTable stored_comparison_table(const StoredComparison& comparison) {
  TextColumn name{.title = "case", .is_left = true, .importance = 100, .most_width = 60};
  TextColumn a{.title = "A", .importance = 70};
  TextColumn b{.title = "B", .importance = 70};
  TextColumn count{.title = "n", .importance = 60};
  TextColumn ratio{.title = "B vs A", .unit = unit_of_changes(comparison), .importance = 95};
  TextColumn interval{.title = "interval", .unit = "≥95 %", .importance = 85};
  TextColumn p{.title = "p", .importance = 40};
  TextColumn sign{.title = "sign of a change", .is_left = true, .importance = 90};
  for (const auto& row : rows_from_stored(comparison)) {
    name.cells.push_back({row.label});
    a.cells.push_back({row.a});
    b.cells.push_back({row.b});
    count.cells.push_back({row.launches});
    ratio.cells.push_back({row.change});
    interval.cells.push_back({row.interval});
    p.cells.push_back({row.p_value});
    sign.cells.push_back(row.is_nominated ? TextCell{row.sign, "33"} : TextCell{row.sign});
  }
  TextTable table{.indent = 2};
  table.columns = {std::move(name),  std::move(a),        std::move(b), std::move(count),
                   std::move(ratio), std::move(interval), std::move(p), std::move(sign)};
  return table;
}

}  // namespace

std::vector<StoredRow> rows_from_stored(const StoredComparison& comparison) {
  const auto text_of = [&comparison](double value) {
    return text_from_metric(
        comparison.metric,
        {.value = value, .count = 1, .unit = comparison.unit, .better = comparison.better});
  };
  std::vector<StoredRow> rows;
  rows.reserve(comparison.changes.size());
  for (const auto& change : comparison.changes) {
    const auto shift = shift_of(change, comparison.unit);
    rows.push_back({.label = printable(change.label),
                    .a = text_of(change.a_median),
                    .b = text_of(change.b_median),
                    .launches = fmt::format("{}, {}", change.a_launches, change.b_launches),
                    .change = text_of_shift(shift),
                    .change_with_unit = full_text_of_shift(shift),
                    .interval = text_of_bounds(shift),
                    .p_value = fmt::format("{:.3f}", change.p_value),
                    .sign = sign_of(change, comparison.better),
                    .is_nominated = change.is_nominated});
  }
  return rows;
}

std::string answer_from_stored(const StoredComparison& comparison) {
  const auto nominated = std::ranges::count_if(comparison.changes, &StoredChange::is_nominated);
  const auto* metric = find_metric(comparison.metric);
  return fmt::format(
      "{} of {} may have changed in {}. Weak evidence: the launches of two runs were not "
      "interleaved, so the hour may differ and not the program; `assay compare` of the two "
      "programs decides.",
      nominated, counted(comparison.changes.size(), "case"),
      metric == nullptr ? comparison.metric : std::string(metric->title));
}

std::vector<std::string> notes_from_stored(const StoredComparison& comparison) {
  std::vector<std::string> notes;
  for (const auto& [count, side] :
       {std::pair(comparison.only_in_a, 'A'), std::pair(comparison.only_in_b, 'B')}) {
    if (count > 0) {
      notes.push_back(
          fmt::format("{} in {} alone", counted(static_cast<std::size_t>(count), "case"), side));
    }
  }
  notes.insert(notes.end(), comparison.notes.begin(), comparison.notes.end());
  return notes;
}

std::string console_from_stored(const StoredComparison& comparison, std::size_t width,
                                bool has_colour) {
  std::string out = fmt::format("A  run {}\nB  run {}\n\n", comparison.a_run, comparison.b_run);
  out += wrapped(answer_from_stored(comparison), width, 0);
  out += "\n\n" + stored_comparison_table(comparison).lay_out(width, has_colour).text;
  for (const auto& note : notes_from_stored(comparison)) {
    out += "  " + wrapped(note, width, 4) + "\n";
  }
  return out;
}

Json document_from_stored(const StoredComparison& comparison) {
  Json document = {{"schema", "assay/stored-comparison/1"}};
  document.update(Json(comparison));
  return document;
}

}  // namespace assay::report
