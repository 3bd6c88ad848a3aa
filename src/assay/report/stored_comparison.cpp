#include "assay/report/stored_comparison.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/record/metric.h"
#include "assay/record/stored_comparison.h"
#include "assay/report/format.h"
#include "assay/report/text_table.h"

namespace assay::report {
namespace {

TextTable stored_comparison_table(const StoredComparison& comparison) {
  TextColumn name{.title = "case", .is_left = true, .importance = 100, .most_width = 60};
  TextColumn a{.title = "A", .importance = 70};
  TextColumn b{.title = "B", .importance = 70};
  TextColumn count{.title = "n", .importance = 60};
  TextColumn ratio{.title = "B vs A", .unit = "% time", .importance = 95};
  TextColumn interval{.title = "interval", .unit = "≥95 %", .importance = 85};
  TextColumn p{.title = "p", .importance = 40};
  TextColumn sign{.title = "sign of a change", .is_left = true, .importance = 90};
  for (const auto& change : comparison.changes) {
    name.cells.push_back({printable(change.label)});
    a.cells.push_back(
        {text_from_metric(comparison.metric, {.value = change.a_median, .count = 1})});
    b.cells.push_back(
        {text_from_metric(comparison.metric, {.value = change.b_median, .count = 1})});
    count.cells.push_back({fmt::format("{}, {}", change.a_launches, change.b_launches)});
    ratio.cells.push_back({text_from_change(change.ratio)});
    interval.cells.push_back({text_from_changes(change.low, change.high)});
    p.cells.push_back({fmt::format("{:.3f}", change.p_value)});
    sign.cells.push_back(change.is_nominated ? TextCell{"compare in pairs", "33"}
                                             : TextCell{"none"});
  }
  TextTable table{.indent = 2};
  table.columns = {std::move(name),  std::move(a),        std::move(b), std::move(count),
                   std::move(ratio), std::move(interval), std::move(p), std::move(sign)};
  return table;
}

}  // namespace

std::string console_from_stored(const StoredComparison& comparison, std::size_t width,
                                bool has_colour) {
  const auto nominated = std::ranges::count_if(comparison.changes, &StoredChange::is_nominated);
  const auto* metric = find_metric(comparison.metric);
  std::string out = fmt::format("A  run {}\nB  run {}\n\n", comparison.a_run, comparison.b_run);
  out += wrapped(
      fmt::format(
          "{} of {} may have changed in {}. Weak evidence: the launches of two runs were not "
          "interleaved, so the hour may differ and not the program; `assay compare` of the "
          "two programs decides.",
          nominated, counted(comparison.changes.size(), "case"),
          metric == nullptr ? comparison.metric : std::string(metric->title)),
      width, 0);
  out += "\n\n" + stored_comparison_table(comparison).lay_out(width, has_colour).text;
  for (const auto& [count, side] :
       {std::pair(comparison.only_in_a, 'A'), std::pair(comparison.only_in_b, 'B')}) {
    if (count > 0) {
      out +=
          fmt::format("  {} in {} alone\n", counted(static_cast<std::size_t>(count), "case"), side);
    }
  }
  for (const auto& note : comparison.notes) {
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
