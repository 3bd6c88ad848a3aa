#include <algorithm>
#include <array>
#include <cstddef>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/text.h"
#include "assay/record/metric.h"
#include "assay/record/summary.h"
#include "assay/report/case_text.h"
#include "assay/report/format.h"
#include "assay/report/text_table.h"
#include "assay/report/timing_text.h"

namespace assay::report {
namespace {

using Rows = std::vector<const CaseSummary*>;

/// A metric as a column: where its number comes from, and how much it matters when room is short.
struct MetricColumn {
  std::string_view metric;
  std::string_view title;
  int importance;
};

constexpr auto kBefore = std::to_array<MetricColumn>({{"first_ns", "first", 40}});
constexpr auto kAfter = std::to_array<MetricColumn>({
    {"steady_mean_ns", "mean", 10},
    {"load_ns", "load", 20},
    {"peak_rss_bytes", "memory", 50},
    {"program_bytes", "size", 45},
    {"delegated_ratio", "deleg.", 60},
});

constexpr std::size_t kNameWidth = 36;
constexpr std::size_t kTextWidth = 20;

/// SGR parameters by verdict.
constexpr auto kColours = std::to_array<std::string_view>({"32", "1;31", "33", "2"});

/// Models together, in the order in which they first appear.
Rows rows_by_model(const std::vector<CaseSummary>& cases) {
  std::map<std::string_view, std::size_t> places;
  std::vector<Rows> models;
  for (const auto& cell : cases) {
    const auto [place, is_new] = places.emplace(cell.model, models.size());
    if (is_new) {
      models.emplace_back();
    }
    models[place->second].push_back(&cell);
  }
  Rows rows;
  for (const auto& model : models) {
    rows.insert(rows.end(), model.begin(), model.end());
  }
  return rows;
}

/// "executorch/" when every recipe begins so.
std::string common_prefix(const Rows& rows) {
  const auto slash = rows.front()->recipe.find('/');
  if (rows.size() < 2 || slash == std::string::npos) {
    return {};
  }
  const auto prefix = rows.front()->recipe.substr(0, slash + 1);
  const bool is_common = std::ranges::all_of(
      rows, [&](const CaseSummary* cell) { return cell->recipe.starts_with(prefix); });
  return is_common ? prefix : "";
}

std::vector<double> raw_values(const Rows& rows, std::string_view metric) {
  std::vector<double> values;
  for (const auto* cell : rows) {
    if (const auto* estimate = find_estimate(*cell, metric)) {
      values.push_back(estimate->value);
    }
  }
  return values;
}

/// Times that stand side by side in a row.
constexpr auto kTimesInARow =
    std::to_array<std::string_view>({"first_ns", "steady_ns", "steady_mean_ns", "load_ns"});

/// One unit for all times of a row; none where they span too much for it.
Scale scale_of_times(const Rows& rows) {
  std::vector<double> values;
  for (const auto metric : kTimesInARow) {
    std::ranges::copy(raw_values(rows, metric), std::back_inserter(values));
  }
  return scale_for("ns", std::move(values));
}

Scale scale_of(const Rows& rows, std::string_view metric) {
  if (metric == "delegated_ratio") {
    return {"%", 0.01};
  }
  if (std::ranges::find(kTimesInARow, metric) != kTimesInARow.end()) {
    if (const auto scale = scale_of_times(rows); scale.raw_unit.empty()) {
      return scale;
    }
  }
  return scale_for(find_metric(metric)->unit, raw_values(rows, metric));
}

TextColumn metric_column(const Rows& rows, const MetricColumn& what) {
  const auto scale = scale_of(rows, what.metric);
  TextColumn column{.title = std::string(what.title),
                    .unit = std::string(scale.unit),
                    .importance = what.importance};
  for (const auto* cell : rows) {
    const auto* estimate = find_estimate(*cell, what.metric);
    const bool is_share = what.metric == "delegated_ratio" && estimate != nullptr;
    column.cells.push_back({estimate == nullptr ? std::string(kNotMeasured)
                            : is_share && estimate->special.empty()
                                ? text_from_share(estimate->value)
                                : text_from_estimate(*estimate, scale)});
  }
  return column;
}

/// Coverage and count that all rows with an interval share, for the head; else 0.
struct CommonInterval {
  double confidence = 0;
  int count = 0;
};

CommonInterval common_interval(const Rows& rows) {
  std::set<double> confidences;
  std::set<int> counts;
  for (const auto* cell : rows) {
    if (const auto* steady = find_estimate(*cell, "steady_ns")) {
      confidences.insert(steady->confidence);
      counts.insert(steady->count);
    }
  }
  return {.confidence = confidences.size() == 1 ? *confidences.begin() : 0,
          .count = counts.size() == 1 ? *counts.begin() : 0};
}

TextColumn interval_column(const Rows& rows, const CommonInterval& common) {
  const auto scale = scale_of(rows, "steady_ns");
  TextColumn column{.title = "interval", .importance = 80};
  if (common.confidence > 0) {
    column.unit = fmt::format("{} %{}", fmt::format("{:.3g}", common.confidence * 100),
                              common.count > 0 ? fmt::format(", n={}", common.count) : "");
  }
  for (const auto* cell : rows) {
    const auto* steady = find_estimate(*cell, "steady_ns");
    auto text = steady == nullptr ? std::string() : text_from_interval(*steady, scale);
    if (!text.empty() && common.confidence == 0 && steady->confidence > 0) {
      text += fmt::format(" {:.3g} %", steady->confidence * 100);
    }
    column.cells.push_back({text.empty() ? std::string(kNotMeasured) : text});
  }
  return column;
}

/// Column: by how much the steady time may be off.
TextColumn certainty_column(const Rows& rows) {
  TextColumn column{.title = "sure", .unit = "%", .importance = 82};
  for (const auto* cell : rows) {
    const auto mark = mark_of_time(*cell);
    column.cells.push_back({mark.empty() ? std::string(kNotMeasured) : mark});
  }
  return column;
}

TextColumn count_column(const Rows& rows) {
  TextColumn column{.title = "n", .importance = 75};
  for (const auto* cell : rows) {
    const auto* steady = find_estimate(*cell, "steady_ns");
    column.cells.push_back({steady == nullptr || steady->count == 0
                                ? std::string(kNotMeasured)
                                : fmt::format("{}", steady->count)});
  }
  return column;
}

TextColumn sqnr_column(const Rows& rows, std::string_view against, std::string_view unit,
                       int importance) {
  TextColumn column{.title = "SQNR", .unit = std::string(unit), .importance = importance};
  for (const auto* cell : rows) {
    const auto* worst = find_worst_output(*cell, against, "sqnr_db");
    column.cells.push_back(
        {worst == nullptr ? std::string(kNotMeasured) : text_of_error(*worst, "sqnr_db")});
  }
  return column;
}

/// References that the user brings, a file's or an engine's, in order of appearance.
std::vector<std::string> brought_kinds(const Rows& rows) {
  std::vector<std::string> kinds;
  for (const auto* cell : rows) {
    for (const auto& table : cell->accuracy_tables) {
      const auto& against = table.against;
      const bool is_brought = against == "file" || against.starts_with("engine:");
      if (is_brought && std::ranges::find(kinds, against) == kinds.end()) {
        kinds.push_back(against);
      }
    }
  }
  return kinds;
}

/// Column: accuracy by the labels of the inputs. It is the same in all tables, so the first counts.
TextColumn accuracy_column(const Rows& rows) {
  TextColumn column{.title = "accuracy", .unit = "%", .importance = 62};
  for (const auto* cell : rows) {
    const Metric* found = nullptr;
    for (const auto& table : cell->accuracy_tables) {
      found = found == nullptr ? find_worst(*cell, table.against, "top1_accuracy") : found;
    }
    column.cells.push_back({found == nullptr ? std::string(kNotMeasured)
                                             : text_from_share(double_from_metric(*found))});
  }
  return column;
}

TextColumn speedup_column(const Rows& rows) {
  TextColumn column{.title = "speedup", .unit = "×", .importance = 65};
  for (const auto* cell : rows) {
    const auto* estimate = find_estimate(*cell, "speedup_ratio");
    column.cells.push_back(
        {estimate == nullptr ? std::string(kNotMeasured) : text_from_estimate(*estimate, {})});
  }
  return column;
}

/// Columns of what the programs tell of themselves; each takes its unit from the first case that
/// has it.
void add_program_metrics(TextTable& table, const Rows& rows,
                         const std::vector<CaseSummary>& cases) {
  int importance = 64;
  for (const auto& [name, first] : program_metrics_of(cases)) {
    const auto definition = definition_of(name, *first);
    const auto scale = scale_for(definition.unit, raw_values(rows, name));
    TextColumn column{.title = std::string(definition.title),
                      .unit = std::string(scale.unit),
                      .importance = --importance};
    for (const auto* cell : rows) {
      const auto* estimate = find_estimate(*cell, name);
      const bool has_unit = estimate != nullptr && estimate->unit == definition.unit;
      column.cells.push_back(
          {has_unit ? text_from_estimate(*estimate, scale) : std::string(kNotMeasured)});
    }
    table.columns.push_back(std::move(column));
  }
}

TextColumn result_column(const Rows& rows) {
  TextColumn column{.title = "result", .is_left = true, .importance = 90};
  for (const auto* cell : rows) {
    const auto cause = cause_of(*cell);
    column.cells.push_back({fmt::format("{} {}", mark_of(cell->verdict),
                                        cause.empty() ? name_of(cell->verdict) : cause),
                            std::string(kColours.at(static_cast<std::size_t>(cell->verdict)))});
  }
  return column;
}

TextColumn text_column(const Rows& rows, const std::string& title, std::string CaseSummary::* field,
                       std::size_t skipped_prefix, int importance) {
  TextColumn column{.title = title,
                    .is_left = true,
                    .importance = importance,
                    .most_width = title == "recipe" ? kNameWidth : kTextWidth,
                    .least_width = 12};
  for (const auto* cell : rows) {
    const auto text = printable((cell->*field).substr(skipped_prefix));
    column.cells.push_back({text.empty() ? std::string(kNotMeasured) : text});
  }
  return column;
}

/// A column, or a phrase of `common` when all rows have the same text.
void add_text(TextTable& table, std::vector<std::string>& common, const Rows& rows,
              const std::string& title, std::string CaseSummary::* field, int importance) {
  const bool is_common = std::ranges::all_of(
      rows, [&](const CaseSummary* cell) { return cell->*field == rows.front()->*field; });
  if (!is_common) {
    table.columns.push_back(text_column(rows, title, field, 0, importance));
  } else if (!(rows.front()->*field).empty()) {
    common.push_back(fmt::format("{} {}", title, printable(rows.front()->*field)));
  }
}

std::vector<std::string> split_words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), std::istream_iterator<std::string>()};
}

/// Options that all rows have are a phrase of `common`; the column has the others.
void add_options(TextTable& table, std::vector<std::string>& common, const Rows& rows) {
  std::map<std::string, std::size_t> rows_with;  // Number of rows that have the word.
  for (const auto* cell : rows) {
    const auto words = split_words(cell->options);
    for (const auto& word : std::set<std::string>(words.begin(), words.end())) {
      ++rows_with[word];
    }
  }
  const auto is_everywhere = [&](const std::string& word) {
    return rows_with.at(word) == rows.size();
  };
  TextColumn column{.title = "options",
                    .is_left = true,
                    .importance = 85,
                    .most_width = kTextWidth,
                    .least_width = 12};
  for (const auto* cell : rows) {
    auto words = split_words(cell->options);
    std::erase_if(words, is_everywhere);
    column.cells.push_back({words.empty() ? std::string(kNotMeasured)
                                          : printable(fmt::format("{}", fmt::join(words, " ")))});
  }
  auto shared = split_words(rows.front()->options);
  std::erase_if(shared, [&](const std::string& word) { return !is_everywhere(word); });
  if (!shared.empty()) {
    common.push_back(printable(fmt::format("options {}", fmt::join(shared, " "))));
  }
  if (is_measured(column)) {
    table.columns.push_back(std::move(column));
  }
}

bool has_streams(const Rows& rows) {
  return std::ranges::any_of(rows, [](const CaseSummary* cell) {
    return cell->options.find("streams=") != std::string::npos;
  });
}

bool is_next_model(const Rows& rows, std::size_t row) {
  return row == 0 || rows[row]->model != rows[row - 1]->model;
}

/// Shapes are next to the model's name, unless one model has several.
bool has_shapes_column(const Rows& rows) {
  for (std::size_t row = 1; row < rows.size(); ++row) {
    if (!is_next_model(rows, row) && rows[row]->shapes != rows[row - 1]->shapes) {
      return true;
    }
  }
  return false;
}

std::vector<TextGroup> groups_by_model(const Rows& rows) {
  std::vector<TextGroup> groups;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (is_next_model(rows, row)) {
      const auto& cell = *rows[row];
      groups.push_back({row, printable(has_shapes_column(rows) || cell.shapes.empty()
                                           ? cell.model
                                           : cell.model + "  " + cell.shapes)});
    }
  }
  return groups;
}

}  // namespace

TextTable case_table(const RunSummary& summary, std::vector<std::string>& common) {
  TextTable table{.indent = 2};
  if (summary.cases.empty()) {
    return table;
  }
  const auto rows = rows_by_model(summary.cases);
  table.groups = groups_by_model(rows);
  const auto prefix = common_prefix(rows);
  auto name = text_column(rows, "recipe", &CaseSummary::recipe, prefix.size(), 100);
  name.unit = prefix.empty() ? "" : prefix + "…";
  table.columns.push_back(std::move(name));
  if (!summary.devices.empty()) {
    table.columns.push_back(text_column(rows, "device", &CaseSummary::device, 0, 98));
  }
  add_text(table, common, rows, "engine", &CaseSummary::engine, 70);
  add_options(table, common, rows);
  if (has_shapes_column(rows)) {
    table.columns.push_back(text_column(rows, "shapes", &CaseSummary::shapes, 0, 84));
  }
  for (const auto& column : kBefore) {
    add_if_measured(table, metric_column(rows, column));
  }
  add_if_measured(table, metric_column(rows, {"steady_ns", "steady", 95}));
  add_if_measured(table, certainty_column(rows));
  const auto common_part = common_interval(rows);
  add_if_measured(table, interval_column(rows, common_part));
  if (common_part.count == 0 || common_part.confidence == 0) {
    add_if_measured(table, count_column(rows));
  }
  if (has_streams(rows)) {
    add_if_measured(table, metric_column(rows, {"throughput_per_s", "throughput", 88}));
  }
  for (const auto& column : kAfter) {
    add_if_measured(table, metric_column(rows, column));
  }
  add_if_measured(table, sqnr_column(rows, "float32", "f32 dB", 55));
  add_if_measured(table, sqnr_column(rows, "qdq", "qdq dB", 30));
  for (const auto& kind : brought_kinds(rows)) {
    const auto title = kind.substr(kind.find(':') + 1);
    add_if_measured(table, sqnr_column(rows, kind, printable(title) + " dB", 50));
  }
  add_if_measured(table, accuracy_column(rows));
  add_if_measured(table, speedup_column(rows));
  add_program_metrics(table, rows, summary.cases);
  table.columns.push_back(result_column(rows));
  return table;
}

}  // namespace assay::report
