#include "features/exchange/fai_pep/result_document.h"
#include "features/exchange/formats.h"

#include <ostream>

#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/record/summary.h"
#include "assay/report/writer.h"

namespace assay::report {

Status write_fai_pep(const RunSummary& summary, const ReportStyle& /*style*/, std::ostream& out) {
  out << text_from_json(fai_pep::results_from_summary(summary), 2) << "\n";
  return {};
}

}  // namespace assay::report
