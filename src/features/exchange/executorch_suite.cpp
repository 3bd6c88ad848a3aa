#include "features/exchange/formats.h"
#include "features/exchange/peer_metric.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/text.h"
#include "assay/record/axes.h"
#include "assay/record/metric.h"
#include "assay/record/summary.h"
#include "assay/record/unfinished.h"
#include "assay/report/case_text.h"
#include "assay/report/csv_row.h"
#include "assay/report/json_lines.h"
#include "assay/report/writer.h"

namespace assay::report {
namespace {

constexpr std::size_t kLoggedOutputs = 2;
constexpr std::size_t kErrorEndColumns = 200;  // Kept of the start and of the end of an error.

struct SuiteResult {
  std::string_view result;
  std::string_view detail;
};

/// A failure by the step at which it happened; what the model itself or Assay causes is skipped
/// there.
SuiteResult result_of_stage(Stage stage) {
  switch (stage) {
    case Stage::kModel:
    case Stage::kExport:
    case Stage::kReference:
      return {"Skip", ""};
    case Stage::kQuantize:
      return {"Fail", "Quantization Failed"};
    case Stage::kLower:
      return {"Fail", "Lowering Failed"};
    case Stage::kLoad:
      return {"Fail", "PTE Load Failed"};
    case Stage::kFirst:
    case Stage::kSteady:
    case Stage::kFetch:
    case Stage::kUnload:
      return {"Fail", "PTE Run Failed"};
    default:
      return {"Fail", "Unknown Failure"};
  }
}

SuiteResult suite_result_of(const CaseSummary& cell) {
  if (cell.verdict == Verdict::kPass) {
    return {"Pass", ""};
  }
  if (cell.verdict != Verdict::kFail || cell.outcome == Outcome::kHarnessError) {
    return {"Skip", ""};
  }
  if (cell.outcome != Outcome::kCompleted && !is_refusal(cell.outcome)) {
    return result_of_stage(cell.stage);
  }
  const bool is_wrong =
      cell.accuracy == Accuracy::kFailNumeric || cell.accuracy == Accuracy::kFailNondeterministic;
  return {"Fail", is_wrong ? "Output Mismatch" : "Unknown Failure"};
}

std::string error_of(const CaseSummary& cell) {
  const auto text = printable(fmt::format("{}", fmt::join(findings_of(cell), "; ")));
  return text.size() <= 2 * kErrorEndColumns
             ? text
             : valid_utf8(text.substr(0, kErrorEndColumns)) + "..." +
                   valid_utf8(text.substr(text.size() - kErrorEndColumns));
}

/// Empty for what was skipped: the reader divides by how many with the same parameters were not.
std::string params_of(const CaseSummary& cell, std::string_view result) {
  if (result == "Skip") {
    return {};
  }
  OrderedJson params = {
      {"engine", cell.engine}, {"inputs", cell.shapes}, {"options", cell.options}};
  return dumped(params);
}

/// "12.345": the time of a stage ahead of time in seconds; empty if it did not happen.
std::string stage_seconds(const CaseSummary& cell, std::string_view name) {
  const auto stages = cell.manifest.is_object() ? cell.manifest.value("stages", Json()) : Json();
  for (const auto& stage : stages.is_array() ? stages : Json::array()) {
    if (stage.value("name", "") == name) {
      return fmt::format("{:.3f}", stage.value("wall_ns", 0.0) / 1e9);
    }
  }
  return {};
}

/// Counts of operators as Python shows a dict, which is how the suite writes them. A manifest has
/// {name: count} of the delegated ones, and a list of {name, count, reason} of the others.
std::string operator_counts(const Json& operators) {
  std::vector<std::string> texts;
  const auto add = [&texts](const std::string& name, const Json& count) {
    texts.push_back(
        fmt::format("'{}': {}", printable(name), count.is_number() ? count.dump() : "0"));
  };
  if (operators.is_object()) {
    for (const auto& [name, count] : operators.items()) {
      add(name, count);
    }
  }
  for (const auto& entry : operators.is_array() ? operators : Json::array()) {
    if (entry.is_object()) {
      add(unquoted_text(entry.value("name", Json(""))), entry.value("count", Json(0)));
    }
  }
  std::ranges::sort(texts);
  return fmt::format("{{{}}}", fmt::join(texts, ", "));
}

void add_nodes(CsvRow& row, const CaseSummary& cell) {
  const auto program = cell.manifest.is_object() ? cell.manifest.value("program", Json()) : Json();
  constexpr auto kColumns = std::to_array<std::pair<const char*, const char*>>(
      {{"Delegated Nodes", "nodes_delegated"}, {"Undelegated Nodes", "nodes_not_delegated"}});
  for (const auto& [column, field] : kColumns) {
    const bool is_known = program.is_object() && program.contains(field);
    row.emplace_back(column, is_known ? program.at(field).dump() : "");
  }
  constexpr auto kLists = std::to_array<std::pair<const char*, const char*>>(
      {{"Delegated Ops", "operators_delegated"}, {"Undelegated Ops", "operators_left"}});
  for (const auto& [column, field] : kLists) {
    const bool is_known = program.is_object() && program.contains(field);
    row.emplace_back(column, is_known ? operator_counts(program.at(field)) : "");
  }
}

std::string fixed(const OutputError* output, const std::string& metric) {
  if (output == nullptr || !output->metrics.contains(metric)) {
    return {};
  }
  return fmt::format("{:.3f}", double_from_metric(output->metrics.at(metric)));
}

/// The suite compares with the exported graph, which is the quantized one if there is one.
const AccuracyTable* find_suite_table(const CaseSummary& cell) {
  const auto quantized = std::ranges::find(cell.accuracy_tables, "qdq", &AccuracyTable::against);
  if (quantized != cell.accuracy_tables.end()) {
    return &*quantized;
  }
  return cell.accuracy_tables.empty() ? nullptr : &cell.accuracy_tables.front();
}

void add_output_errors(CsvRow& row, const CaseSummary& cell) {
  const auto* table = find_suite_table(cell);
  for (std::size_t i = 0; i < kLoggedOutputs; ++i) {
    const bool is_there = table != nullptr && i < table->outputs.size();
    const auto* output = is_there ? &table->outputs[i] : nullptr;
    row.emplace_back(fmt::format("Output {} Error Max", i), fixed(output, "max_abs_error"));
    row.emplace_back(fmt::format("Output {} Error MAE", i), fixed(output, "mean_abs_error"));
    row.emplace_back(fmt::format("Output {} SNR", i), fixed(output, "sqnr_db"));
  }
}

std::string size_in_kb(const CaseSummary& cell) {
  const auto* bytes = find_estimate(cell, "program_bytes");
  return bytes == nullptr ? "" : fmt::format("{:.3f}", bytes->value / 1000);
}

CsvRow suite_row(const CaseSummary& cell) {
  const auto [result, detail] = suite_result_of(cell);
  const bool is_delegated =
      cell.delegation == Delegation::kFull || cell.delegation == Delegation::kPartial;
  CsvRow row = {{"Test ID", fmt::format("{}[{}]", cell.model, variant_of(cell))},
                {"Test Case", cell.model},
                {"Subtest", "0"},
                {"Flow", cell.recipe},
                {"Params", params_of(cell, result)},
                {"Result", std::string(result)},
                {"Result Detail", std::string(detail)},
                {"Delegated", is_delegated ? "True" : "False"},
                {"Quantize Time (s)", stage_seconds(cell, "quantize")},
                {"Lower Time (s)", stage_seconds(cell, "lower")}};
  add_nodes(row, cell);
  row.emplace_back("PTE Size (Kb)", size_in_kb(cell));
  add_output_errors(row, cell);
  row.emplace_back("Error", error_of(cell));
  return row;
}

}  // namespace

/// Source: ExecuTorch 1.5.1, backends/test/suite/reporting.py and runner.py.
Status write_executorch_suite(const RunSummary& summary, const ReportStyle& /*style*/,
                              std::ostream& out) {
  write_csv_head(suite_row({}), out);
  for (const auto& cell : summary.cases) {
    write_csv_row(suite_row(cell), out);
  }
  return {};
}

}  // namespace assay::report
