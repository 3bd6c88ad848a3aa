#include <ostream>

#include "assay/base/result.h"
#include "assay/record/summary.h"
#include "assay/report/document.h"
#include "assay/report/formats.h"
#include "assay/report/html_page.h"
#include "assay/report/writer.h"

namespace assay::report {
Status write_html(const RunSummary& summary, const ReportStyle& style, std::ostream& out) {
  const auto& name = summary.run.name.empty() ? summary.run.purpose : summary.run.name;
  out << html_page({.title = name, .data = document_of(summary), .assets = run_page_assets()},
                   style);
  return {};
}

}  // namespace assay::report
