#include "assay/base/json.h"

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

#include "assay/base/result.h"
#include "assay/record/metric.h"
#include "assay/record/summary.h"
#include "assay/report/case_text.h"
#include "assay/report/document.h"
#include "assay/report/formats.h"
#include "assay/report/json_lines.h"
#include "assay/report/writer.h"

namespace assay::report {
OrderedJson document_head(const RunSummary& summary) {
  Json definitions = Json::array();
  for (const auto& definition : metric_definitions()) {
    definitions.push_back(definition);
  }
  for (const auto& name : load_stages_of(summary.cases)) {
    definitions.push_back(*find_metric(name));
  }
  for (const auto& [name, estimate] : program_metrics_of(summary.cases)) {
    definitions.push_back(definition_of(name, *estimate));
  }
  OrderedJson head;
  head["schema"] = kReportSchema;
  head["run"] = Json(summary.run);
  head["environment"] = Json(summary.environment);
  if (!summary.devices.empty()) {
    head["devices"] = Json(summary.devices);
  }
  if (summary.calibration) {
    head["calibration"] = Json(*summary.calibration);
  }
  head["baseline"] = summary.baseline;
  if (!summary.trade_offs.empty()) {
    head["trade_offs"] = Json(summary.trade_offs);
  }
  if (!summary.comparisons.empty()) {
    head["comparisons"] = Json(summary.comparisons);
  }
  head["metrics"] = definitions;
  return head;
}

std::string document_of(const RunSummary& summary) {
  return document_with_items(document_head(summary), "cases", summary.cases);
}

Status write_json(const RunSummary& summary, const ReportStyle& /*style*/, std::ostream& out) {
  out << document_of(summary) << "\n";
  return {};
}

Status write_jsonl(const RunSummary& summary, const ReportStyle& /*style*/, std::ostream& out) {
  for (const auto& cell : summary.cases) {
    out << line_of_item(kCaseSchema, summary.run, environment_of(summary, cell).id, cell);
  }
  return {};
}

}  // namespace assay::report
