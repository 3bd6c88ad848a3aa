#include "assay/cli/tell_takeover.h"

#include "assay/base/log.h"
#include "assay/base/result.h"
#include "assay/campaign/takeover.h"
#include "assay/record/run.h"
#include "assay/store/result_store.h"

namespace assay::cli {

Status tell_takeover(const Run& run, ResultStore& store, const Successor& successor) {
  ASSAY_ASSIGN_OR_RETURN(const auto warnings, check_takeover(run, store, successor));
  for (const auto& warning : warnings) {
    log_line(LogLevel::kWarning, warning);
  }
  return {};
}

}  // namespace assay::cli
