#include <ostream>

#include "assay/base/result.h"
#include "assay/record/summary.h"
#include "assay/report/formats.h"
#include "assay/report/html_page.h"
#include "assay/report/run_page_data.h"
#include "assay/report/writer.h"

namespace assay::report {
Status write_html(const RunSummary& summary, const ReportStyle& style, std::ostream& out) {
  out << html_page(
      {.title = title_of(summary), .data = run_page_data(summary), .assets = run_page_assets()},
      style);
  return {};
}

}  // namespace assay::report
