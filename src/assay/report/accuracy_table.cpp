#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "assay/base/text.h"
#include "assay/record/metric.h"
#include "assay/record/summary.h"
#include "assay/report/case_text.h"
#include "assay/report/format.h"
#include "assay/report/text_table.h"

namespace assay::report {
namespace {

constexpr auto kBriefErrors = std::to_array<std::string_view>(
    {"sqnr_db", "cosine_similarity", "top1_agreement", "top1_accuracy"});

bool is_counted_in(const OutputError& output, const std::string& metric) {
  const auto found = output.metrics.find(metric);
  return found != output.metrics.end() && double_from_metric(found->second) != 0;
}

/// Tells whether a brief table shows the metric.
bool is_in_brief(const AccuracyTable& accuracy, std::string_view metric) {
  const std::string name(metric);
  const bool is_count = name == "nan_count" || name == "inf_count";
  return std::ranges::find(kBriefErrors, metric) != kBriefErrors.end() ||
         std::ranges::any_of(accuracy.outputs, [&](const OutputError& output) {
           return output.bounds.contains(name) || (is_count && is_counted_in(output, name));
         });
}

}  // namespace

TextTable accuracy_table(const AccuracyTable& accuracy, bool is_brief) {
  TextTable table{.indent = 4};
  TextColumn outputs{.title = "output", .is_left = true, .importance = 100, .most_width = 30};
  for (const auto& output : accuracy.outputs) {
    outputs.cells.push_back({printable(output.output)});
  }
  table.columns.push_back(std::move(outputs));
  int importance = 90;
  for (const auto& definition : metric_definitions()) {
    if (is_brief && !is_in_brief(accuracy, definition.name)) {
      continue;
    }
    const std::string_view unit = definition.unit == "ratio" || definition.unit == "count"
                                      ? std::string_view()
                                      : definition.unit;
    TextColumn column{.title = std::string(definition.title),
                      .unit = std::string(unit),
                      .importance = --importance};
    for (const auto& output : accuracy.outputs) {
      const auto found = output.metrics.find(std::string(definition.name));
      column.cells.push_back({found == output.metrics.end()
                                  ? std::string(kNotMeasured)
                                  : text_of_error(output, definition.name)});
    }
    add_if_measured(table, std::move(column));
  }
  return table;
}

}  // namespace assay::report
