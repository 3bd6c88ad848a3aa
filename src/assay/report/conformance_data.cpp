// Conformance as data: JSON, JSON lines, CSV.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <utility>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/text.h"
#include "assay/record/conformance.h"
#include "assay/record/metric.h"
#include "assay/report/conformance_formats.h"
#include "assay/report/csv_row.h"
#include "assay/report/format.h"
#include "assay/report/json_lines.h"
#include "assay/report/writer.h"

namespace assay::report {
namespace {

std::string name_or_nothing(const std::optional<ConformVerdict>& verdict) {
  return verdict ? std::string(name_of(*verdict)) : std::string();
}

std::string text_of_ratio(const ConformResult& result) {
  if (!result.error_bound_ratio) {
    return "";
  }
  const auto& metric = *result.error_bound_ratio;
  return metric.special.empty() ? fmt::format("{}", metric.value) : metric.special;
}

CsvRow conformance_row(const ConformReport& report, const ConformResult& result) {
  return {{"run", report.run.id},
          {"case", result.name},
          {"case_key", result.case_key},
          {"operator", result.operator_name},
          {"dtype", result.dtype},
          {"shape_class", result.shape_class},
          {"values", result.values},
          {"recipe", result.recipe},
          {"engine", result.engine},
          {"options", result.options},
          {"verdict", std::string(name_of(result.verdict))},
          {"known", std::string(name_of(result.known))},
          {"stage", std::string(name_of(result.stage))},
          {"reason_code", result.reason_code},
          {"delegation", std::string(name_of(result.delegation))},
          {"nodes_delegated", fmt::to_string(result.nodes_delegated)},
          {"nodes_not_delegated", fmt::to_string(result.nodes_not_delegated)},
          {"operators_left", fmt::format("{}", fmt::join(result.operators_left, ";"))},
          {"error_bound_ratio", text_of_ratio(result)},
          {"joint", result.is_joint ? "1" : "0"},
          {"was_in_joint", name_or_nothing(result.was_in_joint)},
          {"judged_alone", fmt::to_string(result.alone.size())},
          {"text", printable_lines(result.text)},
          {"issue", result.issue},
          {"command", result.command}};
}

}  // namespace

ConformanceDocument document_parts(const ConformReport& report) {
  Json all = report;
  OrderedJson head;
  head["schema"] = kConformanceSchema;
  for (const auto& [key, value] : all.items()) {
    if (key != "results") {
      head[key] = value;
    }
  }
  return {.head = std::move(head), .results = std::move(all.at("results"))};
}

std::string document_of(const ConformReport& report) {
  const auto [head, results] = document_parts(report);
  return document_with_items(head, "results", results);
}

Status conformance_to_json(const ConformReport& report, const ReportStyle& /*style*/,
                           std::ostream& out) {
  out << document_of(report) << "\n";
  return {};
}

Status conformance_to_jsonl(const ConformReport& report, const ReportStyle& /*style*/,
                            std::ostream& out) {
  for (const auto& result : report.results) {
    out << line_of_item(kConformanceCaseSchema, report.run, report.environment.id, result);
  }
  return {};
}

Status conformance_to_csv(const ConformReport& report, const ReportStyle& /*style*/,
                          std::ostream& out) {
  write_csv_head(conformance_row(report, {}), out);
  for (const auto& result : report.results) {
    write_csv_row(conformance_row(report, result), out);
  }
  return {};
}

}  // namespace assay::report
