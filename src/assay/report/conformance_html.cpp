#include <ostream>

#include "assay/base/result.h"
#include "assay/record/conformance.h"
#include "assay/report/conformance_formats.h"
#include "assay/report/html_page.h"
#include "assay/report/writer.h"

namespace assay::report {
Status conformance_to_html(const ConformReport& report, const ReportStyle& style,
                           std::ostream& out) {
  out << html_page({.title = "conform " + report.suite,
                    .data = document_of(report),
                    .assets = conformance_page_assets(),
                    .has_charts = false},
                   style);
  return {};
}

}  // namespace assay::report
