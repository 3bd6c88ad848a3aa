#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/conformance.h"
#include "assay/report/json_lines.h"
#include "assay/report/writer.h"

namespace assay::report {

inline constexpr std::string_view kConformanceSchema = "assay/conformance/1";
inline constexpr std::string_view kConformanceCaseSchema = "assay/conformance-case/1";

/// The whole report as JSON, the schema first; always valid UTF-8.
std::string document_of(const ConformReport& report);

/// That document in two: its results, and all else with the schema first.
struct ConformanceDocument {
  OrderedJson head;
  Json results;
};
ConformanceDocument document_parts(const ConformReport& report);

// One for each format.
Status conformance_to_console(const ConformReport& report, const ReportStyle& style,
                              std::ostream& out);
Status conformance_to_json(const ConformReport& report, const ReportStyle& style,
                           std::ostream& out);
Status conformance_to_jsonl(const ConformReport& report, const ReportStyle& style,
                            std::ostream& out);
Status conformance_to_csv(const ConformReport& report, const ReportStyle& style, std::ostream& out);
Status conformance_to_markdown(const ConformReport& report, const ReportStyle& style,
                               std::ostream& out);
Status conformance_to_junit(const ConformReport& report, const ReportStyle& style,
                            std::ostream& out);
Status conformance_to_html(const ConformReport& report, const ReportStyle& style,
                           std::ostream& out);

}  // namespace assay::report
