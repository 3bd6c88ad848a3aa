#include "assay/base/json.h"

#include <nlohmann/json.hpp>
#include <ostream>

#include "assay/base/result.h"
#include "assay/record/metric.h"
#include "assay/record/summary.h"
#include "assay/report/document.h"
#include "assay/report/formats.h"
#include "assay/report/writer.h"

namespace assay::report {
namespace {

/// Bytes that are no UTF-8 (an engine's stderr) become U+FFFD rather than an exception.
std::string dumped(const Json& document, int indent) {
  return document.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

Json document_of(const RunSummary& summary) {
  Json definitions = Json::array();
  for (const auto& definition : metric_definitions()) {
    definitions.push_back(definition);
  }
  return {{"schema", kReportSchema},
          {"run", summary.run},
          {"environment", summary.environment},
          {"baseline", summary.baseline},
          {"metrics", definitions},
          {"cases", summary.cases}};
}

std::string compact_document(const RunSummary& summary) { return dumped(document_of(summary), -1); }

Status write_json(const RunSummary& summary, const ReportStyle& /*style*/, std::ostream& out) {
  out << dumped(document_of(summary), 1) << "\n";
  return {};
}

Status write_jsonl(const RunSummary& summary, const ReportStyle& /*style*/, std::ostream& out) {
  for (const auto& cell : summary.cases) {
    Json line = cell;
    line["schema"] = kCaseSchema;
    line["run"] = summary.run.id;
    line["environment"] = summary.environment.id;
    out << dumped(line, -1) << "\n";
  }
  return {};
}

}  // namespace assay::report
