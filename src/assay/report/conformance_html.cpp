#include "report_page.h"

#include <array>
#include <ostream>
#include <string>
#include <string_view>

#include "assay/base/result.h"
#include "assay/record/conformance.h"
#include "assay/report/conformance_formats.h"
#include "assay/report/html_page.h"
#include "assay/report/writer.h"

namespace assay::report {
namespace {

constexpr auto kConformanceScripts =
    std::to_array<std::string_view>({"format.js", "dom.js", "heat_map.js", "conformance.js"});

}  // namespace

Status conformance_to_html(const ConformReport& report, const ReportStyle& /*style*/,
                           std::ostream& out) {
  out << html_page(
      {.title = "conform " + report.suite,
       .css = std::string(report_page("page.css")) + std::string(report_page("conformance.css")),
       .data = document_of(report),
       .charts = "",
       .script = joined_scripts(kConformanceScripts)});
  return {};
}

}  // namespace assay::report
