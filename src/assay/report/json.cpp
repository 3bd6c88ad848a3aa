#include "assay/base/json.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

#include "assay/base/result.h"
#include "assay/record/metric.h"
#include "assay/record/summary.h"
#include "assay/report/document.h"
#include "assay/report/formats.h"
#include "assay/report/writer.h"

namespace assay::report {
namespace {

/// Bytes that are no UTF-8 (an engine's stderr) become U+FFFD rather than an exception.
template <class Document>
std::string dumped(const Document& document) {
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string document_of(const RunSummary& summary) {
  Json definitions = Json::array();
  for (const auto& definition : metric_definitions()) {
    definitions.push_back(definition);
  }
  nlohmann::ordered_json head;
  head["schema"] = kReportSchema;
  head["run"] = Json(summary.run);
  head["environment"] = Json(summary.environment);
  if (summary.calibration) {
    head["calibration"] = Json(*summary.calibration);
  }
  head["baseline"] = summary.baseline;
  if (!summary.comparisons.empty()) {
    head["comparisons"] = Json(summary.comparisons);
  }
  head["metrics"] = definitions;
  auto text = dumped(head);
  text.pop_back();
  text += ",\n\"cases\":[";
  for (std::size_t i = 0; i < summary.cases.size(); ++i) {
    text += (i == 0 ? "\n" : ",\n") + dumped(Json(summary.cases[i]));
  }
  return text + "\n]}";
}

Status write_json(const RunSummary& summary, const ReportStyle& /*style*/, std::ostream& out) {
  out << document_of(summary) << "\n";
  return {};
}

Status write_jsonl(const RunSummary& summary, const ReportStyle& /*style*/, std::ostream& out) {
  for (const auto& cell : summary.cases) {
    nlohmann::ordered_json line;
    line["schema"] = kCaseSchema;
    line["run"] = summary.run.id;
    line["environment"] = summary.environment.id;
    line.update(nlohmann::ordered_json(Json(cell)));
    out << dumped(line) << "\n";
  }
  return {};
}

}  // namespace assay::report
