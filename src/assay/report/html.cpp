#include "report_page.h"

#include <array>
#include <ostream>
#include <string>
#include <string_view>

#include "assay/base/log.h"
#include "assay/base/result.h"
#include "assay/record/summary.h"
#include "assay/report/document.h"
#include "assay/report/formats.h"
#include "assay/report/html_page.h"
#include "assay/report/vega_bundle.h"
#include "assay/report/writer.h"

namespace assay::report {
namespace {

/// In the order in which they use each other; together they are one script.
constexpr auto kScripts = std::to_array<std::string_view>(
    {"format.js", "dom.js", "model.js", "charts.js", "model_charts.js", "case_charts.js",
     "trace_charts.js", "trade_off.js", "attribution.js", "comparisons.js", "cases.js",
     "details.js", "page.js"});

std::string charts_element(const ReportStyle& style) {
  const auto bundle = read_vega_bundle(style.data_folder);
  if (!bundle) {
    log_line(LogLevel::kWarning, "the report has no charts: " + bundle.error().message);
    return "<!-- no charts: vega.js was not found -->";
  }
  return "<script>" + *bundle + "</script>";
}

}  // namespace

Status write_html(const RunSummary& summary, const ReportStyle& style, std::ostream& out) {
  const auto& name = summary.run.name.empty() ? summary.run.purpose : summary.run.name;
  out << html_page({.title = name,
                    .css = std::string(report_page("page.css")),
                    .data = document_of(summary),
                    .charts = charts_element(style),
                    .script = joined_scripts(kScripts)});
  return {};
}

}  // namespace assay::report
