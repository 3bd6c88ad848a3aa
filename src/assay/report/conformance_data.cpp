// Conformance as data: JSON, JSON lines, CSV.
#include <cstddef>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/conformance.h"
#include "assay/record/metric.h"
#include "assay/report/conformance_formats.h"
#include "assay/report/csv_row.h"
#include "assay/report/format.h"
#include "assay/report/writer.h"

namespace assay::report {
namespace {

template <class Document>
std::string dumped(const Document& document) {
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

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

CsvRow row_of(const ConformReport& report, const ConformResult& result) {
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

std::string document_of(const ConformReport& report) {
  const Json all = report;
  nlohmann::ordered_json head;
  head["schema"] = kConformanceSchema;
  for (const auto& [key, value] : all.items()) {
    if (key != "results") {
      head[key] = value;
    }
  }
  auto text = dumped(head);
  text.pop_back();
  text += ",\n\"results\":[";
  const auto& results = all.at("results");
  for (std::size_t i = 0; i < results.size(); ++i) {
    text += (i == 0 ? "\n" : ",\n") + dumped(results[i]);
  }
  return text + "\n]}";
}

Status conformance_to_json(const ConformReport& report, const ReportStyle& /*style*/,
                           std::ostream& out) {
  out << document_of(report) << "\n";
  return {};
}

Status conformance_to_jsonl(const ConformReport& report, const ReportStyle& /*style*/,
                            std::ostream& out) {
  for (const auto& result : report.results) {
    nlohmann::ordered_json line;
    line["schema"] = kConformanceCaseSchema;
    line["run"] = report.run.id;
    line["environment"] = report.environment.id;
    line.update(nlohmann::ordered_json(Json(result)));
    out << dumped(line) << "\n";
  }
  return {};
}

Status conformance_to_csv(const ConformReport& report, const ReportStyle& /*style*/,
                          std::ostream& out) {
  write_csv_head(row_of(report, {}), out);
  for (const auto& result : report.results) {
    write_csv_row(row_of(report, result), out);
  }
  return {};
}

}  // namespace assay::report
